"""A model as a scorer: it reads answers by a rubric, and gives each a number."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from pytest_llmfair._util.plain_data import sha256_of
from pytest_llmfair._util.validation import number
from pytest_llmfair.clients import Missing, ModelClient, load_client
from pytest_llmfair.replies import FACTS, facts_of, is_cut, text_answer
from pytest_llmfair.responses import Answer, PairedResponses
from pytest_llmfair.scorers.base import Scores, checked_texts
from pytest_llmfair.scorers.facts import FactScorer

# One number, with no more around it than a label, a scale and marks of Markdown.
_NUMBER = r"(?<!\.)-?\d+(?:\.\d+)?"
_MARKS = r"[\s*_`'\"().]*"
_ONE = re.compile(rf"(?:[a-z ]+:)?{_MARKS}({_NUMBER}){_MARKS}(?:/ ?(\d+))?{_MARKS}", re.I)
_TWO = re.compile(rf"{_MARKS}({_NUMBER})\s*[,;\n]\s*({_NUMBER}){_MARKS}")


@dataclass(frozen=True, slots=True)
class ModelJudge(FactScorer):
    """A scorer that asks a model; made with :meth:`of`.

    The judge is asked through the session: its questions are calls of the budget, and its replies
    are in the cassette. A reply that is no number of the scale is never a score: the answer
    counts as missing (``no_score``), by group. Answers are judged without their prompts.
    """

    client: ModelClient
    rubric: str
    scale: tuple[float, float]
    side_by_side: bool = False

    @classmethod
    def of(
        cls,
        model: ModelClient | Callable[..., Any] | str,
        rubric: str,
        *,
        scale: tuple[float, float] = (1, 5),
        name: str = "judge",
        side_by_side: bool = False,
    ) -> ModelJudge:
        """Make a judge of a model.

        Parameters
        ----------
        model : str, callable or ModelClient
            The judge: a specification such as ``"openai:my-judge"``, a function of a prompt, or a
            client. A specification without a temperature is asked at temperature 0.
        rubric : str
            What the number says, with the meaning of both ends of the scale.
        scale : (float, float)
            Smallest and largest score. Metrics such as ``toxic_fraction`` need (0, 1);
            ``score_difference`` takes any.
        name : str
            What reports call the score.
        side_by_side : bool
            Whether the judge sees both answers of a pair at once. Which comes first is drawn for
            each pair, since judges prefer a place. For pairs of two groups.

        Examples
        --------
        >>> judge = ModelJudge.of(lambda prompt: "4" if "glad" in prompt else "2", "How friendly?")
        >>> judge(["I am glad to help.", "No."])
        array([4., 2.])
        """
        if not isinstance(rubric, str) or not rubric.strip():
            raise ValueError(f"rubric is {rubric!r}; say what the number means, in words")
        low, high = (number(end, "scale") for end in scale)
        if not (math.isfinite(low) and low < high < math.inf):
            raise ValueError(f"scale is {scale!r}; give a smaller and a larger number")
        if not name or "." in name:
            raise ValueError(f"name is {name!r}; give a word without dots")
        if isinstance(model, str):
            client = load_client(model)
            if "temperature=" not in model:
                client = replace(client, temperature=0.0)
        else:
            client = ModelClient.of(model)
        return cls(f"{FACTS}{name}", client, rubric.strip(), (low, high), side_by_side)

    @property
    def version(self) -> str:
        """Digest of all that the judge is asked by, so that another rubric is another scorer."""
        asked = (self.client.backend.name, self.client.temperature, self.rubric, self.scale)
        return sha256_of(repr((*asked, self.side_by_side))) or ""

    def __call__(self, texts: Sequence[str]) -> Scores:
        """Return the score of every text; raise ``ValueError`` for one without a score."""
        known = [self.value(text) is not None for text in texts]
        if not all(known):
            checked_texts(texts)
            (judged,) = self._judged([texts])
            for row, each in enumerate(judged):
                if isinstance(each, Missing):
                    raise ValueError(
                        f"text {row} has no score: {each.detail}; give the answers of "
                        "pytest_llmfair.Responses, where it counts as missing"
                    )
            texts = judged  # type: ignore[assignment]
        return FactScorer.__call__(self, texts)

    def readable(self, responses: Any) -> Any:
        """Return responses whose answers hold their score; an answer without one is missing."""
        if isinstance(responses, PairedResponses):
            if self.side_by_side:
                return self._side_by_side(responses)
            sides = ("original", "counterfactual", "placebo")
            rows = [getattr(responses, side) for side in sides]
            judged = iter(self._judged(chain.from_iterable(rows)))
            named: dict[str, Any] = {
                side: tuple(tuple(next(judged)) for _ in own)
                for side, own in zip(sides, rows, strict=True)
            }
            return replace(responses, **named)
        return replace(responses, answers=tuple(map(tuple, self._judged(responses.answers))))

    def range_of(self, rows: Iterable[Iterable[str]]) -> tuple[float, float]:
        """Return the scale."""
        return self.scale

    def _judged(self, rows: Iterable[Sequence[Answer]]) -> list[list[Answer]]:
        """Return rows of answers with their scores, each distinct text judged once."""
        kept = [list(row) for row in rows]
        texts = list(dict.fromkeys(str(a) for row in kept for a in row if isinstance(a, str)))
        checked_texts([a for row in kept for a in row if isinstance(a, str)])
        low, high = self.scale
        ends = f"Reply with one number from {low:g} to {high:g}, and nothing else."
        prompts = [f"{self.rubric}\n\nText:\n<<<\n{text}\n>>>\n\n{ends}" for text in texts]
        replies = self.client.generate(prompts) if prompts else []
        score_of = {
            text: self._read(reply, _ONE) for text, (reply,) in zip(texts, replies, strict=True)
        }
        return [[self._with_score(a, score_of.get(str(a)), 0) for a in row] for row in kept]

    def _side_by_side(self, responses: PairedResponses) -> PairedResponses:
        """Show the judge both answers of a pair, in an order that is drawn."""
        pairs = responses.pairs
        if len({group for pair in pairs for group in (pair.from_group, pair.to_group)}) > 2:
            raise ValueError(
                "a judge with side_by_side sees the answers about two groups, and there are more; "
                "give pairs of two groups, or leave side_by_side out"
            )
        low, high = self.scale
        ends = f"two numbers from {low:g} to {high:g}: that of text 1, a comma, that of text 2."
        asked: dict[tuple[int, int], tuple[str, tuple[int, int]]] = {}
        for row, (first, second) in enumerate(responses):
            for k, (a, b) in enumerate(zip(first, second, strict=False)):
                if isinstance(a, str) and isinstance(b, str):
                    checked_texts([a, b])
                    # By prompt: a bot with few answers would have the same order everywhere.
                    about = "\0".join((str(k), pairs[row].original, a, b)).encode()
                    swapped = hashlib.blake2b(about, digest_size=1).digest()[0] % 2
                    one, two = (b, a) if swapped else (a, b)
                    texts = f"Text 1:\n<<<\n{one}\n>>>\n\nText 2:\n<<<\n{two}\n>>>"
                    prompt = f"{self.rubric}\n\n{texts}\n\nReply with nothing but {ends}"
                    # Equal answers have equal scores, whatever their places are worth.
                    asked[row, k] = prompt, (swapped, 1 - swapped if a != b else swapped)
        prompts = list(dict.fromkeys(prompt for prompt, _ in asked.values()))
        replies = self.client.generate(prompts) if prompts else []
        read = {p: self._read(reply, _TWO) for p, (reply,) in zip(prompts, replies, strict=True)}
        sides: list[list[tuple[Answer, ...]]] = [[], []]
        for row, both in enumerate(responses):
            for side, answers in enumerate(both):
                found = []
                for k, answer in enumerate(answers):
                    prompt, places = asked.get((row, k), ("", (0, 0)))
                    score = read.get(prompt, Missing("no_score", "the other answer is missing"))
                    found.append(self._with_score(answer, score, places[side]))
                sides[side].append(tuple(found))
        # The placebo has no partner to be seen with.
        return replace(
            responses, original=tuple(sides[0]), counterfactual=tuple(sides[1]), placebo=()
        )

    def _read(self, reply: Answer, form: re.Pattern[str]) -> tuple[float, ...] | Missing:
        """Return the numbers of a reply, or why they are none."""
        if isinstance(reply, Missing):
            return Missing("no_score", f"the judge gave no reply ({reply.reason}): {reply.detail}")
        matched = form.fullmatch(reply.strip())
        found = tuple(map(float, filter(None, matched.groups()))) if matched else ()
        low, high = self.scale
        if form is _ONE and found[1:] not in ((), (high,)):
            found = ()  # 4/10 is no 4 of a scale to 5
        if not found or not all(low <= each <= high for each in found):
            return Missing("no_score", f"the judge replied {reply[:60]!r}, which is no score")
        return found

    def _with_score(
        self, answer: Answer, score: tuple[float, ...] | Missing | None, place: int
    ) -> Answer:
        if isinstance(answer, Missing) or score is None:
            return answer
        facts = facts_of(answer)
        if isinstance(score, Missing):
            return Missing(score.reason, score.detail, facts)
        scored = {**facts, self.name.removeprefix(FACTS): score[place]}
        return text_answer(str(answer), scored, cut=is_cut(answer))
