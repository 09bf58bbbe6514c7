"""The model under test: one client for every kind of backend."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pytest_llmfair.clients.protocol import (
    Backend,
    FirstTokenBackend,
    RemoteBackend,
    Request,
    ScoringBackend,
    sample_seed,
)
from pytest_llmfair.clients.spec import ModelSpecError
from pytest_llmfair.responses import Answer, Missing, PairedResponses, left_out

if TYPE_CHECKING:
    from pytest_llmfair.clients.requests import Batch
    from pytest_llmfair.responses import Pair


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
        seed: int = 0,
        temperature: float = 1.0,
        max_tokens: int | None = None,
    ) -> ModelClient:
        """Return a client for a function of one prompt, a runnable of LangChain, or a backend.

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
            from pytest_llmfair.clients.backends.python import PythonCallable

            backend = PythonCallable.of(model, name)
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
        return self._ask([("", _checked(prompts))], n, seed, temperature, max_tokens, fresh)[0]

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
        sides = [
            (side, _checked([getattr(pair, side) for pair in pairs], f"{side} of pairs"))
            for side in ("original", "counterfactual")
        ]
        reworded = [getattr(pair, "placebo", None) for pair in pairs]
        if any(text is not None for text in reworded):
            texts = [text for text in reworded if text is not None]
            sides.append(("placebo", _checked(texts, "placebo of pairs")))
        from pytest_llmfair.clients.session import origins

        origin = origins()
        groups = {getattr(pair, side, "") for pair in pairs for side in ("from_group", "to_group")}
        if len(groups) > 2:
            # A prompt is in one pair per other group; ask it once.
            texts = list(dict.fromkeys(text for _, side in sides[:2] for text in side))
            asked = self._ask([("", texts), *sides[2:]], n, seed, temperature, max_tokens, fresh)
            row_of = dict(zip(texts, asked[0], strict=True))
            asked[:1] = [[row_of[text] for text in side] for _, side in sides[:2]]
        else:
            asked = self._ask(sides, n, seed, temperature, max_tokens, fresh)
        answers = [tuple(map(tuple, rows)) for rows in asked]
        placebo: tuple[tuple[Answer, ...], ...] = ()
        if len(answers) == 3:
            rows = iter(answers[2])
            placebo = tuple(() if text is None else next(rows) for text in reworded)
        return PairedResponses(
            pairs, answers[0], answers[1], self.name, placebo, **losses, origin=origin()
        )

    def next_token_probabilities(
        self, prompts: Sequence[str], words: Sequence[str]
    ) -> list[dict[str, float]]:
        """Probability that the answer to each prompt starts with each word.

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
        if not isinstance(self.backend, (ScoringBackend, FirstTokenBackend)):
            raise ValueError(
                f"{self.name} returns texts only, no probabilities; use builtin:ngram, an hf: "
                "model or a server that offers logprobs, or sample with generate() and count"
            )
        prompts, words = _checked(prompts), _checked(words, "words")
        if len(set(words)) < len(words):
            raise ValueError(f"words has {_repeated(words)!r} twice; give each word once")
        if isinstance(self.backend, ScoringBackend):
            rows = self._next_words(self.backend, prompts, words)
        else:
            rows = self._first_tokens(self.backend, prompts, words)
        return [dict(zip(words, row, strict=True)) for row in rows]

    def label_probabilities(
        self, prompts: Sequence[str], labels: Sequence[str]
    ) -> list[dict[str, float]]:
        """Probability of each label as the answer to each prompt, among the labels.

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
        rows = self.next_token_probabilities(prompts, labels)
        for row, shares in enumerate(rows):
            total = math.fsum(shares.values())
            if not total > 0.0:
                raise ValueError(
                    f"no label of {list(labels)} can follow prompts[{row}] "
                    f"({prompts[row][:80]!r}); ask in a way that these labels answer"
                )
            rows[row] = {label: share / total for label, share in shares.items()}
        return rows

    def _ask(
        self,
        sides: Sequence[tuple[str, Sequence[str]]],
        n: int,
        seed: int | None,
        temperature: float | None,
        max_tokens: int | None,
        fresh: bool,
    ) -> list[list[list[Answer]]]:
        """Answer the prompts of all sides in one call, which makes full batches."""
        asked = replace(
            self,
            seed=self.seed if seed is None else seed,
            temperature=self.temperature if temperature is None else temperature,
            max_tokens=self.max_tokens if max_tokens is None else max_tokens,
        )
        n = _whole(n, "n")
        requests = []
        for side, prompts in sides:
            seen: Counter[str] = Counter()
            for prompt in prompts:
                occurrence = seen[prompt]
                requests += [
                    Request(
                        prompt,
                        sample_seed(asked.seed, prompt, occurrence, j, side),
                        f"{side}:{occurrence}.{j}" if side else f"{occurrence}.{j}",
                    )
                    for j in range(n)
                ]
                seen[prompt] += 1
        answers = iter(asked._answers(requests, fresh=fresh))
        return [[[next(answers) for _ in range(n)] for _ in prompts] for _, prompts in sides]

    def _answers(
        self, requests: Sequence[Request], batch: Batch | None = None, *, fresh: bool = False
    ) -> list[Answer]:
        """Answer requests with the client's own temperature and limit."""
        from pytest_llmfair.clients.session import current_runner

        return current_runner().answers(
            self.backend,
            requests,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            batch=batch,
            fresh=fresh,
        )

    def _next_words(
        self, backend: ScoringBackend, prompts: Sequence[str], words: Sequence[str]
    ) -> list[list[float]]:
        """Ask for probabilities like answers, so that they are recorded and counted too."""
        distinct = list(dict.fromkeys(prompts))
        repeat = f"probabilities {json.dumps(list(words))}"
        requests = [Request(prompt, 0, repeat) for prompt in distinct]

        def scored(some: Sequence[Request]) -> list[Answer]:
            rows = backend.probabilities([request.prompt for request in some], words)
            return [json.dumps(row) for row in rows]

        answers = replace(self, temperature=1.0, max_tokens=1)._answers(requests, scored)
        rows = dict(zip(distinct, map(self._given, distinct, answers), strict=True))
        return [json.loads(rows[prompt]) for prompt in prompts]

    def _given(self, prompt: str, answer: Answer) -> str:
        if isinstance(answer, Missing):
            raise ValueError(
                f"{self.name} gave no probabilities after {prompt[:80]!r} ({answer.reason}: "
                f"{answer.detail}); ask again, or sample with generate() and count"
            )
        return answer

    def _first_tokens(
        self, backend: FirstTokenBackend, prompts: Sequence[str], words: Sequence[str]
    ) -> list[list[float]]:
        distinct = list(dict.fromkeys(prompts))
        requests = [Request(prompt, 0, "first token", first_token=True) for prompt in distinct]
        answers = replace(self, temperature=1.0, max_tokens=1)._answers(requests)
        rows = {
            prompt: backend.read_first_token(self._given(prompt, answer), words)
            for prompt, answer in zip(distinct, answers, strict=True)
        }
        return [rows[prompt] for prompt in prompts]

    def __post_init__(self) -> None:
        if isinstance(self.seed, bool) or not isinstance(self.seed, int):
            raise ValueError(f"seed is {self.seed!r}; give a whole number")
        temperature = self.temperature
        if not isinstance(temperature, (int, float)) or not 0.0 <= temperature < math.inf:
            raise ValueError(f"temperature is {temperature!r}; give a number of at least 0")
        if self.max_tokens is not None:
            _whole(self.max_tokens, "max_tokens")


def _checked(texts: Sequence[str], what: str = "prompts") -> list[str]:
    if isinstance(texts, (str, bytes)):
        raise ValueError(f"{what} is one text; give a list of texts")
    texts = list(texts)
    if not texts:
        raise ValueError(f"{what} is empty; give at least one text")
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(f"{what}[{row}] is {type(text).__name__}; give a text")
        if not text.strip():
            raise ValueError(f"{what}[{row}] has no text; give one or leave the row out")
    return texts


def _whole(value: int, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{what} is {value!r}; give a whole number of at least 1")
    return value


def _repeated(words: Sequence[str]) -> str:
    return next(word for word, count in Counter(words).items() if count > 1)
