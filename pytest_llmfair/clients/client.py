"""The model under test: one client for every kind of backend."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pytest_llmfair._util.validation import whole, whole_seed
from pytest_llmfair.clients.likelihoods import Likelihoods
from pytest_llmfair.clients.protocol import Backend, RemoteBackend
from pytest_llmfair.clients.sending import (
    FirstWords,
    Side,
    asking_order,
    blocks_of,
    checked,
    requests_of,
    rows_of,
)
from pytest_llmfair.clients.session import current_runner, origins
from pytest_llmfair.clients.spec import ModelSpecError
from pytest_llmfair.responses import Answer, Pair, PairedResponses, left_out


@dataclass(frozen=True, slots=True)
class ModelClient:
    """The model under test.

    Sample j of a prompt depends on the seed, the text of the prompt, how often it came before in
    the call, j, and its side of the pair. It does not depend on the other prompts, their order, n,
    or the batches in which a backend answers.

    Parameters
    ----------
    backend : Backend or RemoteBackend
        The model.
    seed : int
        Seed of every call without a seed of its own.
    temperature : float
        At least 0; 0 is greedy, so that all answers to a prompt are equal; 1 samples from the
        model as it is.
    max_tokens : int, optional
        Longest answer in the backend's own tokens, at least 1. An answer cut by this limit counts
        as an answer. Without a limit a model of this machine stops after 64 tokens, and a server
        where its model ends; an answer that the server cuts is missing.

    Examples
    --------
    >>> client = ModelClient.of(lambda prompt: f"You said: {prompt}", name="echo")
    >>> client.generate(["Hello."], n=2)
    [['You said: Hello.', 'You said: Hello.']]
    """

    backend: Backend | RemoteBackend
    seed: int = 0
    temperature: float = 1.0
    max_tokens: int | None = None

    @classmethod
    def of(
        cls,
        model: Callable[..., Any] | Backend | RemoteBackend | ModelClient | None,
        *,
        name: str | None = None,
        files: Sequence[str] = (),
        messages: bool | None = None,
        system: str | Path = "",
        answers: Literal["last", "all"] = "last",
        seed: int = 0,
        temperature: float = 1.0,
        max_tokens: int | None = None,
    ) -> ModelClient:
        """Return a client for a function, a runnable of LangChain, or a backend.

        Parameters
        ----------
        model : callable, Backend, RemoteBackend or ModelClient
            A function that takes a prompt and returns its answer, sync or async; `seed`,
            `temperature` and `max_tokens` are passed as keywords if it has them. A function whose
            first parameter is called `messages` gets a list of ``{"role": ..., "content": ...}``.
            A client is returned as it is.
        name : str, optional
            What reports call a function, and by what its recorded answers are found; by default
            ``python:MODULE:FUNCTION``.
        files : sequence of str
            Files and folders, besides the module of a function, whose change makes its recorded
            answers stale: prompts, settings, modules that it imports.
        messages : bool, optional
            Whether a function takes messages, where the name of its parameter does not say it.
        system : str or Path
            First message of every conversation: a text, or the file that holds it.
        answers : {"last", "all"}
            Which answers to a :func:`pytest_llmfair.conversation` are judged.
        seed, temperature, max_tokens
            Fields of the client; see :class:`ModelClient`.

        Raises
        ------
        ModelSpecError
            If `model` is something else.

        Examples
        --------
        >>> ModelClient.of(str.upper, name="upper").generate(["yes"])
        [['YES']]
        """
        if isinstance(model, ModelClient):
            return model
        if model is None:
            raise ModelSpecError(
                "the client is None; give a ModelClient or a function of a prompt"
            )
        backend = model
        # Chat models of LangChain have a `generate` of their own.
        ways = () if hasattr(model, "ainvoke") else ("generate", "send")
        if not any(callable(getattr(model, way, None)) for way in ways):
            from pytest_llmfair.clients.backends.chat import chat_options
            from pytest_llmfair.clients.backends.python import PythonCallable

            options = chat_options(messages, system, answers)
            backend = PythonCallable.of(model, name, ",".join(files), options=options)
        elif system or messages is not None or answers != "last":
            known = getattr(model, "name", type(model).__name__)
            raise ModelSpecError(
                f"messages, system and answers are for functions, and {known} is a backend; give "
                "them where it is made"
            )
        return cls(backend, seed, temperature, max_tokens)  # type: ignore[arg-type]

    @property
    def name(self) -> str:
        """Specification of the model, for reports."""
        return self.backend.name

    @property
    def description(self) -> str:
        """What the model is, in one sentence."""
        return self.backend.description

    def generate(
        self,
        prompts: Sequence[str],
        n: int = 1,
        *,
        seed: int | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        fresh: bool = False,
    ) -> list[list[Answer]]:
        """Sample `n` answers to every prompt.

        Within a pytest session a question is asked once: the same client, prompt, parameters and
        sample get the same answer again.

        Parameters
        ----------
        prompts : sequence of str
            At least one, each with text.
        n : int
            Answers per prompt, at least 1.
        seed, temperature, max_tokens
            In place of the client's own.
        fresh : bool
            Ask again even if this session or the cassette has the answer. A cassette that is only
            replayed is used all the same.

        Returns
        -------
        list of list
            One list per prompt, in order, of `n` texts or `Missing` answers with a reason.

        Raises
        ------
        ValueError
            If an argument is wrong; the message names it and the row.

        Examples
        --------
        >>> from pytest_llmfair.clients import load_client
        >>> rows = load_client("builtin:ngram").generate(["The nurse said that", "He is"], n=3)
        >>> [len(row) for row in rows]
        [3, 3]
        """
        sides: list[Side] = [("", checked(prompts))]
        asked = self._with(seed, temperature, max_tokens)
        answers = asked._answers(requests_of(sides, n, asked.seed), fresh=fresh)
        return rows_of(answers, sides, n)[0]

    def answer_pairs(
        self,
        pairs: Sequence[Pair],
        n: int = 1,
        *,
        seed: int | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        fresh: bool = False,
    ) -> PairedResponses:
        """Sample `n` answers to both members of every counterfactual pair, and to its placebo.

        The members are sampled with independent seeds, even if their texts are equal. With more
        than two groups, a prompt that several pairs share is asked once. Other arguments and
        errors as in :meth:`generate`.

        Parameters
        ----------
        pairs : sequence of Pair
            At least one; see :func:`pytest_llmfair.counterfactuals.generate_pairs`.
        n : int
            Answers per prompt, at least 1.

        Returns
        -------
        PairedResponses
            `n` answers to each member, in the order of the pairs.

        Examples
        --------
        >>> from pytest_llmfair.responses import Pair
        >>> pair = Pair("She left.", "He left.", "female", "male", (), "gender")
        >>> answers = ModelClient.of(str.upper, name="upper").answer_pairs([pair])
        >>> answers.original, answers.counterfactual
        ((('SHE LEFT.',),), (('HE LEFT.',),))
        """
        losses = left_out(pairs)
        pairs = tuple(pairs)
        if not pairs:
            raise ValueError("pairs is empty; give at least one counterfactual pair")
        for row, pair in enumerate(pairs):
            if not hasattr(pair, "original") or not hasattr(pair, "counterfactual"):
                raise ValueError(
                    f"pairs[{row}] is {type(pair).__name__}; a pair has .original and "
                    ".counterfactual, as generate_pairs() makes it"
                )
        members = [
            (side, checked([getattr(pair, side) for pair in pairs], f"{side} of pairs"))
            for side in ("original", "counterfactual")
        ]
        reworded = [getattr(pair, "placebo", None) for pair in pairs]
        twins = [row for row, text in enumerate(reworded) if text is not None]
        groups = {getattr(pair, side, "") for pair in pairs for side in ("from_group", "to_group")}
        rows = list(range(len(pairs)))
        questions: list[Side] = members
        blocks = [rows, rows]
        if shared := len(groups) > 2:
            # A prompt is in one pair per other group; ask it once.
            block_of = blocks_of(zip(members[0][1], members[1][1], strict=True))
            questions, blocks = [("", list(block_of))], [list(block_of.values())]
            rows = [block_of[text] for text in members[0][1]]
        if twins:
            texts = [text for text in reworded if text is not None]
            questions = [*questions, ("placebo", checked(texts, "placebo of pairs"))]
            blocks.append([rows[row] for row in twins])
        origin = origins()
        # All sides in one call, which makes full batches.
        asked = self._with(seed, temperature, max_tokens)
        requests = requests_of(questions, n, asked.seed, blocks)
        found = asked._answers(requests, fresh=fresh)
        order = {requests[row].prompt: place for place, row in enumerate(asking_order(requests))}
        answers = [[tuple(row) for row in side] for side in rows_of(found, questions, n)]
        given = iter(answers[-1])
        placebo = tuple(() if text is None else next(given) for text in reworded if twins)
        if shared:
            row_of = dict(zip(block_of, answers[0], strict=True))
            answers = [[row_of[text] for text in side] for _, side in members]
        seeds = getattr(self.backend, "shared_seeds", lambda prompts: (0, 0))
        return PairedResponses(
            pairs,
            tuple(answers[0]),
            tuple(answers[1]),
            self.name,
            placebo,
            **losses,
            origin=origin(),
            order=order,
            shared_seeds=seeds(order),
        )

    def next_token_probabilities(
        self, prompts: Sequence[str], words: Sequence[str]
    ) -> list[dict[str, float]]:
        """Probability that the answer to each prompt starts with each word.

        Parameters
        ----------
        prompts : sequence of str
            At least one, each with text.
        words : sequence of str
            At least one, each with text and given once.

        Returns
        -------
        list of dict
            Per prompt, word to probability at temperature 1. Not normalised: the values sum to at
            most 1, unless one of the words begins with another. A word of several tokens has the
            product of their probabilities.

        Raises
        ------
        ValueError
            If an argument is wrong, or the backend gives no probabilities.

        Examples
        --------
        >>> from pytest_llmfair.clients import load_client
        >>> client = load_client("builtin:ngram")
        >>> row = client.next_token_probabilities(["The nurse said that"], ["he", "she"])[0]
        >>> row["he"] == row["she"]
        True
        """
        question = FirstWords.of(self.backend, prompts, words)
        client = replace(self, temperature=1.0, max_tokens=1)
        return question.read(client._answers(question.requests, batch=question.batch))

    def label_probabilities(
        self, prompts: Sequence[str], labels: Sequence[str]
    ) -> list[dict[str, float]]:
        """Probability of each label as the answer to each prompt, among the labels.

        Parameters
        ----------
        prompts : sequence of str
            At least one, each with text.
        labels : sequence of str
            At least one, each with text and given once, such as ``["yes", "no"]``.

        Returns
        -------
        list of dict
            Per prompt, label to probability, normalised so that the labels sum to 1.

        Raises
        ------
        ValueError
            As for :meth:`next_token_probabilities`, or if no label can follow a prompt.

        Examples
        --------
        >>> from pytest_llmfair.clients import load_client
        >>> client = load_client("builtin:ngram")
        >>> client.label_probabilities(["Is she good?"], ["yes", "no"])[0].keys()
        dict_keys(['yes', 'no'])
        """
        question = FirstWords.of(self.backend, prompts, labels)
        client = replace(self, temperature=1.0, max_tokens=1)
        rows = question.read(client._answers(question.requests, batch=question.batch))
        for row, shares in enumerate(rows):
            total = math.fsum(shares.values())
            if not total > 0.0:
                raise ValueError(
                    f"no label of {list(labels)} can follow prompts[{row}] "
                    f"({prompts[row][:80]!r}); ask in a way that these labels answer"
                )
            rows[row] = {label: share / total for label, share in shares.items()}
        return rows

    def log_likelihoods(self, texts: Sequence[str], context: str = "") -> list[tuple[float, int]]:
        """Logarithm of the probability of each whole text after a context, and its tokens.

        Texts are not framed as messages of a chat. ``ValueError`` if a backend gives none, which
        is so for every server.
        """
        question = Likelihoods.of(self.backend, texts, context)
        client = replace(self, temperature=1.0, max_tokens=1)
        return question.read(client._answers(question.requests, batch=question.batch))

    def _with(
        self, seed: int | None, temperature: float | None, max_tokens: int | None
    ) -> ModelClient:
        """Return this client with the arguments that a call gives in place of its own."""
        given = {"seed": seed, "temperature": temperature, "max_tokens": max_tokens}
        return replace(self, **{k: v for k, v in given.items() if v is not None})  # type: ignore[arg-type]

    @property
    def _answers(self) -> functools.partial[list[Answer]]:
        """The session's request runner, bound to this model."""
        return functools.partial(
            current_runner().answers,
            self.backend,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
        )

    def __post_init__(self) -> None:
        object.__setattr__(self, "seed", whole_seed(self.seed))
        temperature = self.temperature
        if not isinstance(temperature, (int, float)) or not 0.0 <= temperature < math.inf:
            raise ValueError(f"temperature is {temperature!r}; give a number of at least 0")
        if self.max_tokens is not None:
            object.__setattr__(self, "max_tokens", whole(self.max_tokens, "max_tokens"))
