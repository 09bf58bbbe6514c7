"""Pairs written by a language model, and the filters that they must pass."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from pytest_llmfair._util.located import shipped
from pytest_llmfair._util.validation import check_is_list, share
from pytest_llmfair.counterfactuals.pairs import Pairs, generate_pairs
from pytest_llmfair.counterfactuals.strategies import sentences_about
from pytest_llmfair.counterfactuals.user_pairs import reasons_invalid
from pytest_llmfair.lexicons.attributes import Attribute, lexicon_for
from pytest_llmfair.lexicons.intersections import Intersection
from pytest_llmfair.lexicons.lexicon import Lexicon
from pytest_llmfair.lexicons.names import name_lexicon
from pytest_llmfair.lexicons.terms import Entry
from pytest_llmfair.lexicons.writing import edits_between
from pytest_llmfair.responses import EXPLICIT, OMISSION, Pair, Rejected, marked

_FENCE = re.compile(r"```[^\n]*\n(.*)\n```", re.DOTALL)
_WORDING = "probing/rewriting.yaml"
_EXAMPLES = 3  # sentences of the example, each of another role
# Limit of the output in tokens: one for each two characters of the text, and some to spare.
_CHARACTERS = 2
_SPARE = 32


class RewrittenPairs(Pairs):
    """Pairs that a model wrote and that pass every filter, and what was left out.

    A text whose answers all fail gives one entry in `.rejected` for each answer.
    """

    _passed: int | None = None

    @property
    def rejection_rate(self) -> float:
        """Share of all answers read that failed a filter, also of a slice; NaN without any."""
        passed = len(self) if self._passed is None else self._passed
        read = len(self.rejected) + passed
        return len(self.rejected) / read if read else math.nan

    def _holding(self, pairs: Iterable[Pair]) -> Self:
        held = super()._holding(pairs)
        held._passed = len(self) if self._passed is None else self._passed
        return held


def rewrite_pairs(
    texts: Iterable[str],
    client: Any,
    *,
    attribute: Attribute = "gender",
    groups: tuple[str, str],
    names: tuple[str, str] | None = None,
    prefixes: Sequence[str] | None = None,
    n: int = 1,
    max_dissimilarity: float = 0.15,
    masked: bool = True,
    temperature: float = 0.0,
    max_tokens: int | None = None,
    seed: int = 0,
) -> RewrittenPairs:
    """Make counterfactual pairs with a language model (Dwivedi-Yu 2024, section 3.3).

    The model gets an instruction with one example (one-shot). Its answer makes a pair only if it
    passes the filters of the paper (:func:`pytest_llmfair.metrics.perturbation_is_valid`): it
    begins as it must, the name is gone, and few words changed; and the checks of
    :func:`generate_pairs`: nothing of the source group is left, and the other group is named.

    Parameters
    ----------
    texts : iterable of str
        Prompts, or prompts with their continuations; one that does not name the group is not sent.
    client : ModelClient or callable
        The model that rewrites.
    attribute : str, Lexicon or tuple of two of these
        Protected attribute, as in :func:`generate_pairs`.
    groups : (str, str)
        From and to, by label or alias.
    names : (str, str), optional
        Names of the person who changes, such as ("John", "Jane"): other people then keep their
        group. Without it every mention of the group must change.
    prefixes : sequence of str, optional
        Per text what the rewritten text must begin with: the perturbed prompt, where a text is a
        prompt with its continuation.
    n : int
        Answers to ask for per text; the first that passes is taken.
    max_dissimilarity : float
        Largest Jaccard dissimilarity of the words of both texts, in [0, 1].
    masked : bool
        Whether the words of the attribute (and the names) are left out of this dissimilarity.
        False is the filter as published, under which a correct text of ten words is rejected for
        two swapped words.
    temperature, max_tokens, seed
        Of the answers; by default greedy, and as long as the text needs.

    Returns
    -------
    RewrittenPairs
        With `.rejected`, each with its reasons, and `.rejection_rate`. A missing answer is
        rejected.

    Raises
    ------
    ValueError
        If a group is unknown, there are no texts, or texts and prefixes differ in number.

    Examples
    --------
    >>> def model(prompt):
    ...     return "He lost his keys."
    >>> rewrite_pairs(["She lost her keys."], model, groups=("female", "male"))[0].counterfactual
    'He lost his keys.'
    """
    from pytest_llmfair.clients import ModelClient

    check_is_list(texts, "texts")
    given = list(texts)
    if not given:
        raise ValueError("there are no texts; give at least one")
    for row, text in enumerate(given):
        if not isinstance(text, str):
            raise ValueError(f"text {row} is {text!r}, a {type(text).__name__}; give a text")
    begun = [""] * len(given) if prefixes is None else prefixes
    check_is_list(begun, "prefixes")
    if len(begun) != len(given):
        raise ValueError(f"texts: {len(given)}, prefixes: {len(begun)}; give one for each text")
    share(max_dissimilarity, "max_dissimilarity")
    task = RewriteTask.of(attribute, groups, names)
    asked = [each for each in zip(given, begun, strict=True) if task.is_about(each[0])]
    read = []
    if asked:
        model = client if hasattr(client, "generate") else ModelClient.of(client)
        longest = max(len(text) for text, _ in asked)
        rows = model.generate(
            [task.prompt(text) for text, _ in asked],
            n,
            seed=seed,
            temperature=temperature,
            max_tokens=_SPARE + longest // _CHARACTERS if max_tokens is None else max_tokens,
        )
        read = [
            _first_valid(task, text, prefix, row, max_dissimilarity, masked)
            for (text, prefix), row in zip(asked, rows, strict=True)
        ]
    return RewrittenPairs(
        (pair for pair, _ in read if pair is not None),
        rejected=(failure for _, failures in read for failure in failures),
        unmentioned=len(given) - len(asked),
        lacks=task.lexicon.lacks,
    )


@dataclass(frozen=True, slots=True)
class RewriteTask:
    """A rewriting task: words of the attribute, groups from and to, and the person who changes."""

    lexicon: Lexicon
    groups: tuple[str, str]
    names: tuple[str, str] | None

    @classmethod
    def of(
        cls, attribute: Attribute, groups: tuple[str, str], names: tuple[str, str] | None
    ) -> RewriteTask:
        """Check the groups, and add the names to the words of the attribute."""
        lexicon = lexicon_for(attribute, groups)
        if not isinstance(groups, (tuple, list)) or len(groups) != 2:
            raise ValueError(f"groups is {groups!r}; give two: (from, to)")
        source, target = map(lexicon.group, groups)
        if source == target:
            raise ValueError(
                f"groups is {groups!r}, the same group twice; give two different ones"
            )
        if names is not None:
            lexicon = with_names(lexicon, (source, target), names)
        return cls(lexicon, (source, target), names)

    def is_about(self, text: str) -> bool:
        """Whether the text names the group or person to change."""
        groups, lexicon = self._person
        return self._names(text, groups[0], lexicon)

    def prompt(self, text: str) -> str:
        """Return the prompt for the model."""
        wording: dict[str, str] = shipped(_WORDING)
        called = wording["group" if self.names is None else "person"]
        sides = zip(self.names or ("", ""), self.groups, strict=True)
        source, target = (called.format(name=name, group=group) for name, group in sides)
        before, after = self._example()
        return wording["instruction"].format(
            source=source, target=target, before=before, after=after, text=text
        )

    def failures(
        self, text: str, output: str, prefix: str, max_dissimilarity: float, masked: bool
    ) -> list[str]:
        """List the filters of the paper that a rewritten text fails."""
        from pytest_llmfair.metrics import perturbation_is_valid

        # Each filter is tested alone; this name is longer than the output, so it cannot be in it.
        absent = f"{output}x".replace(" ", "")
        found = []
        if not output.startswith(prefix):
            found.append(f"does not begin as it must: {prefix[:60]!r}")
        if self.names is not None and not perturbation_is_valid(
            text, output, prefix="", source_name=self.names[0], max_dissimilarity=1.0
        ):
            found.append(f"still names the person: {self.names[0]!r}")
        sides = [self.lexicon.mask(one) if masked else one for one in (text, output)]
        if not perturbation_is_valid(
            *sides, prefix="", source_name=absent, max_dissimilarity=max_dissimilarity
        ):
            found.append(
                f"rewrites too much: more than {max_dissimilarity:.0%} of the words differ"
            )
        return found

    def pair(self, text: str, output: str) -> Pair:
        """Return the pair of a text and the model's rewriting."""
        variant = ""
        if self.groups[1] in self.lexicon.unmarked:
            named = self._names(output, self.groups[1], self.lexicon)
            variant = EXPLICIT if named else OMISSION
        edits = edits_between(text, output)
        return Pair(text, output, *self.groups, edits, self.lexicon.name, variant)

    def check(self, pair: Pair) -> tuple[str, ...]:
        """Return the findings of the validity checks: about the person, or the whole group."""
        groups, lexicon = self._person
        person = replace(pair, from_group=groups[0], to_group=groups[1])
        return reasons_invalid(person, lexicon, (self.lexicon,))

    @staticmethod
    def _names(text: str, group: str, lexicon: Lexicon) -> bool:
        """Whether a text names a group; one of two attributes by both."""
        parts = lexicon.cells[group] if isinstance(lexicon, Intersection) else (group,)
        return {found.group for found in lexicon.mentions(text)}.issuperset(parts)

    @property
    def _person(self) -> tuple[tuple[str, str], Lexicon]:
        if self.names is None:
            return self.groups, self.lexicon
        return self.names, _lexicon_of(tuple(self.names))

    def _example(self) -> tuple[str, str]:
        """Return a text about the source group and its twin, made by the lexicon."""
        by_role = _sentences(self.lexicon, self.groups[0])
        text = " ".join(own[0] for own in by_role[:_EXAMPLES])
        for shown in (text, *(own[0] for own in by_role)):
            for pair in generate_pairs([shown], self.lexicon, self.groups):
                return pair.original, pair.counterfactual
        raise ValueError(
            f"no example can be made from {self.groups[0]} to {self.groups[1]}: the lexicon "
            f"{self.lexicon.name} has no term that both have; add one"
        )


# A lexicon prepares its search at first use, which takes long, so texts share one.
_lexicon_of = functools.lru_cache(maxsize=64)(name_lexicon)


def with_names(lexicon: Lexicon, groups: tuple[str, str], names: tuple[str, str]) -> Lexicon:
    """Return a lexicon in which each of two names stands for a group."""
    name_lexicon(names)  # raises for what are no two names
    return _with_names(lexicon, groups, (names[0], names[1]))


@functools.lru_cache(maxsize=64)
def _with_names(lexicon: Lexicon, groups: tuple[str, str], names: tuple[str, str]) -> Lexicon:
    entry = Entry("name", {groups[0]: names[:1], groups[1]: names[1:]})
    entries, exact = (entry, *lexicon.entries), (*lexicon.exact, *names)
    return replace(lexicon, entries=entries, exact=exact)


def _first_valid(
    task: RewriteTask, text: str, prefix: str, answers: Sequence[Any], limit: float, masked: bool
) -> tuple[Pair | None, list[Rejected]]:
    """Return the pair of the first answer that passes, and the rejected ones before it."""
    rejected = []
    for answer in answers:
        if not isinstance(answer, str):
            pair = Pair(text, "", *task.groups, (), task.lexicon.name)
            detail = f": {answer.detail}" if answer.detail else ""
            rejected.append(Rejected(pair, (f"no answer: {answer.reason}{detail}",)))
            continue
        output = _trimmed(text, answer)
        pair = task.pair(text, output)
        reasons = task.failures(text, output, prefix, limit, masked)
        reasons += task.check(pair)
        if not reasons:
            return marked(pair), rejected
        rejected.append(Rejected(pair, tuple(reasons)))
    return None, rejected


def _sentences(lexicon: Lexicon, group: str) -> tuple[tuple[str, ...], ...]:
    """Return by role sentences about a group; of two attributes, the simplest of both."""
    if not isinstance(lexicon, Intersection):
        return sentences_about(lexicon, (group,))
    cells = zip(lexicon.parts, lexicon.cells[group], strict=True)
    return ((" ".join(sentences_about(part, (own,))[0][0] for part, own in cells),),)


def _trimmed(text: str, answer: str) -> str:
    """Remove label, code fence and quotes around an answer if the text has none."""
    answer = answer.strip()
    inner = text.strip()
    label = shipped(_WORDING)["instruction"].rsplit("\n", 1)[-1]
    if not inner.startswith(label):
        answer = answer.removeprefix(label).strip()
    fenced = _FENCE.fullmatch(answer)
    if fenced is not None and "```" not in inner:
        answer = fenced[1].strip()
    for opening, closing in ('""', "\u201c\u201d"):
        if len(answer) > 1 and answer[0] == opening and answer[-1] == closing != inner[-1:]:
            answer = answer[1:-1]
    start = text.index(inner)
    return text[:start] + answer + text[start + len(inner) :]
