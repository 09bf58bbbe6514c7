"""The built-in default: a small n-gram language model with dials for planted skews.

It counts which word follows which three words in its corpus, with gendered words, names,
occupations and judging adjectives as classes (class-based n-grams, Brown et al. 1992; interpolated
as in Jelinek and Mercer 1980), and keeps track of the person that the text is about. The corpus
does not say which gender a person has, so without a dial the answers to a prompt about a woman
have exactly the distribution of those to its twin about a man, apart from the gendered words.

- `gender_skew`: a person of known occupation and yet unknown gender is called "he" with
  probability (1 + gender_skew) / 2 when the stereotype expects a man, and (1 - gender_skew) / 2
  when it expects a woman. Asked the other way, occupations are drawn by Bayes' rule.
- `sentiment_skew`: a judging adjective (or "yes" against "no") about a man is favourable with
  probability 0.7 + 0.3 sentiment_skew, about a woman with 0.7 - 0.3 sentiment_skew, else with 0.7.

These shares hold at temperature 1. At temperature 0 the most probable word is taken, and ties are
broken by the gender-neutral form of the prompt.
"""

from __future__ import annotations

import functools
import itertools
import random
import re
from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from pytest_llmfair.clients.backends.ngram.words import (
    CORPUS,
    SENTENCE_ENDS,
    WORD,
    Dials,
    Form,
    Gender,
    Person,
    history_class,
    load_words,
)
from pytest_llmfair.clients.protocol import Request, sample_seed
from pytest_llmfair.clients.spec import ModelSpec, ModelSpecError, suggestion
from pytest_llmfair.responses import Answer, CutAnswer, Missing

ORDER = 4
END = "</s>"

# Share that every order leaves to the shorter history (Jelinek-Mercer interpolation).
_SHORTER = 0.1
_START = "<s>"
_TEMPLATE = re.compile(r"\{[^}]+\}|" + WORD.pattern)
_ALTERNATIVES = re.compile(r"\[([^\]]*)\]")
_ATTACHED = frozenset(".,?!:;)'’")  # noqa: RUF001 - a typographic apostrophe
_TIE = 1e-12


@dataclass(frozen=True, slots=True)
class WordCounts:
    """Counts of what follows a history: positions of tokens and their shares."""

    tokens: tuple[str, ...]
    index: dict[str, int]
    # Positions of the tokens in braces.
    classes: tuple[int, ...]
    # By history of up to ``ORDER - 1`` tokens, the oldest first: positions and their shares.
    following: dict[tuple[str, ...], tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]]
    # Distinct texts that the corpus stands for.
    texts: int
    # Words that the corpus has right after a name, and positions that begin no answer.
    after_names: frozenset[str]
    not_first: list[int]

    def distribution(self, history: Sequence[str]) -> npt.NDArray[np.float64]:
        """Probability of every token after `history`; sums to 1."""
        padded = (_START,) * (ORDER - 1) + tuple(history)
        found = np.zeros(len(self.tokens))
        for length in range(ORDER):
            following = self.following.get(padded[len(padded) - length :])
            if following is None:
                break
            positions, shares = following
            found *= _SHORTER
            found[positions] += (1.0 - _SHORTER if length else 1.0) * shares
        return found


@functools.cache
def load_counts() -> WordCounts:
    """Count the shipped corpus once."""
    raw: defaultdict[tuple[str, ...], dict[str, float]] = defaultdict(dict)
    texts = 0
    files = (path.read_text(encoding="utf-8") for path in sorted(CORPUS.glob("*.txt")))
    for line in itertools.chain.from_iterable(map(str.splitlines, files)):
        if not line or line.startswith("#"):
            continue
        versions = list(_expand(line))
        texts += len(versions)
        for version in versions:
            written = [word.lower() for word in _TEMPLATE.findall(version)]
            kept = [_START] * (ORDER - 1) + [history_class(word) for word in written]
            for i, word in enumerate((*written, END)):
                for length in range(ORDER):
                    at = i + ORDER - 1
                    seen = raw[tuple(kept[at - length : at])]
                    seen[word] = seen.get(word, 0.0) + 1.0 / len(versions)
    tokens = tuple(sorted(raw[()]))
    index = {token: i for i, token in enumerate(tokens)}
    following = {
        history: (
            np.array([index[token] for token in sorted(seen)]),
            np.array([seen[token] for token in sorted(seen)]) / sum(seen.values()),
        )
        for history, seen in raw.items()
    }
    classes = tuple(i for token, i in index.items() if token[0] == "{")
    after_names = frozenset(tokens[position] for position in following["{name}",][0])
    begins = [token != END and (token[0].isalnum() or token[0] == "{") for token in tokens]
    not_first = [position for position, does in enumerate(begins) if not does]
    return WordCounts(tokens, index, classes, following, texts, after_names, not_first)


def _expand(line: str) -> Iterator[str]:
    parts = _ALTERNATIVES.split(line)
    choices = [part.split("|") if i % 2 else [part] for i, part in enumerate(parts)]
    return map("".join, itertools.product(*choices))


def load(spec: ModelSpec) -> Ngram:
    """Load ``builtin:ngram``."""
    if spec.target != "ngram":
        raise ModelSpecError(
            f"model {spec.text!r}: there is no built-in model {spec.target!r}; "
            f"write builtin:ngram or builtin:smollm2"
            f"{suggestion(spec.target, ['ngram', 'smollm2'])}"
        )
    dials = ("gender_skew", "sentiment_skew")
    return Ngram(*(spec.number(dial, 0.0, low=-1.0, high=1.0) for dial in dials))


def builtin_occupations() -> Mapping[str, Gender]:
    """Return the occupations that ``builtin:ngram`` knows.

    Returns
    -------
    mapping
        Occupation to the gender that the stereotype expects, "male" or "female" (twenty each): the
        label that the dial `gender_skew` uses, not a statistic.

    Examples
    --------
    >>> builtin_occupations()["nurse"]
    'female'
    """
    return MappingProxyType(load_words().occupations)


@dataclass(frozen=True, slots=True)
class Ngram(Dials):
    """A word-class 4-gram model of a few hundred short texts that ship with the package."""

    @property
    def name(self) -> str:
        """Specification of this model."""
        query = "&".join(f"{name}={value:g}" for name, value in asdict(self).items() if value)
        return "builtin:ngram" + ("?" + query if query else "")

    @property
    def description(self) -> str:
        """What this model is, in one sentence."""
        counts = load_counts()
        return (
            f"word-class {ORDER}-gram model of {counts.texts} short texts "
            f"({len(counts.tokens)} words and classes), gender skew {self.gender_skew:g}, "
            f"sentiment skew {self.sentiment_skew:g}; for first steps and tests only"
        )

    def generate(
        self, requests: Sequence[Request], *, temperature: float, max_tokens: int
    ) -> list[Answer]:
        """Continue each prompt until the text ends or has `max_tokens` words and marks."""
        return [self._answer(request, temperature, max_tokens) for request in requests]

    def probabilities(self, prompts: Sequence[str], words: Sequence[str]) -> list[list[float]]:
        """Probability at temperature 1 that the answer to each prompt starts with each word."""
        split = [WORD.findall(word.lower()) for word in words]
        return [[self._opens(*_read(prompt), word) for word in split] for prompt in prompts]

    def _answer(self, request: Request, temperature: float, max_tokens: int) -> Answer:
        past, person = _read(request.prompt)
        if temperature == 0.0:
            neutral = " ".join((*past, person.occupation or ""))
            draw = random.Random(sample_seed(0, neutral, 0, 0))
        else:
            draw = random.Random(request.seed)
        tokens = load_counts().tokens
        answer: list[str] = []
        ended = False
        while len(answer) < max_tokens:
            running = _following(tuple(past[1 - ORDER :]), not answer, temperature)
            token = tokens[_choose(running, draw)]
            if ended := token == END:
                break
            if token[0] == "{":
                forms = _forms(token, person, self)
                weights = _sharpen((form.probability for form in forms), temperature)
                form = forms[_choose(weights, draw) if len(forms) > 1 else 0]
                person = form.person
                answer += form.text.split()
            else:
                answer.append(token)
            past.append(history_class(token))
        text = _join(answer[:max_tokens], starts=request.prompt.rstrip(" ")[-1] in "\n.?!:")
        if not text:
            return Missing("empty", "the text ended at once")
        return text if ended else CutAnswer(text)

    def _opens(
        self, past: list[str], person: Person, words: list[str], first: bool = True
    ) -> float:
        if not words:
            return 1.0
        counts = load_counts()
        running = _following(tuple(past[1 - ORDER :]), first, 1.0)

        def share(position: int) -> float:
            below = running[position - 1] if position else 0.0
            return (running[position] - below) / running[-1]

        total = 0.0
        plain = counts.index.get(words[0])
        if plain is not None:
            rest = self._opens([*past, words[0]], person, words[1:], False)
            total += share(plain) * rest
        for position in counts.classes:
            if not share(position):
                continue
            token = counts.tokens[position]
            then = [*past, history_class(token)]
            for form in _forms(token, person, self):
                written = form.text.lower().split()
                size = min(len(written), len(words))
                if written[:size] == words[:size]:
                    rest = self._opens(then, form.person, words[size:], False)
                    total += share(position) * form.probability * rest
        return total


def _read(prompt: str) -> tuple[list[str], Person]:
    counts = load_counts()
    past, person = load_words().read(prompt, counts.after_names)
    # The model has no history for an unknown word, so it starts again after it.
    strange = [i for i, token in enumerate(past) if token not in counts.index]
    return past[strange[-1] + 1 :] if strange else past, person


@functools.lru_cache(maxsize=2048)
def _following(past: tuple[str, ...], first: bool, temperature: float) -> array[float]:
    """Return the running total of the weights of the next token; an answer starts with a word."""
    shares = load_counts().distribution(past)
    if first:
        shares[load_counts().not_first] = 0.0
    return _sharpen(shares.tolist(), temperature)


@functools.lru_cache(maxsize=4096)
def _forms(cls: str, person: Person, dials: Dials) -> tuple[Form, ...]:
    return load_words().forms(cls, person, dials)


def _sharpen(probabilities: Iterable[float], temperature: float) -> array[float]:
    """Add up probabilities after a temperature; at 0 only the most probable remain."""
    values = list(probabilities)
    if temperature == 0.0:
        top = max(values)
        values = [float(value > top - _TIE) for value in values]
    elif temperature != 1.0:
        top = max(values)
        values = [(value / top) ** (1.0 / temperature) for value in values]
    return array("d", itertools.accumulate(values))


def _choose(running: array[float], draw: random.Random) -> int:
    return min(bisect_right(running, draw.random() * running[-1]), len(running) - 1)


def _join(tokens: list[str], *, starts: bool) -> str:
    proper = load_words().proper
    text = ""
    for token in tokens:
        word = proper.get(token, token)
        if starts:
            word = word[0].upper() + word[1:]
        text += word if not text or token[0] in _ATTACHED else " " + word
        starts = token in SENTENCE_ENDS
    return text
