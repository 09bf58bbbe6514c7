"""Groups of the rows: declared by the caller or the tool, else guessed from fields or prompts."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_llmfair._util.keywords import suggestion
from pytest_llmfair._util.wording import listed
from pytest_llmfair.lexicons.attributes import lexicon_of
from pytest_llmfair.lexicons.lexicon import Lexicon
from pytest_llmfair.lexicons.loading import load_lexicons
from pytest_llmfair.results.source import ResultsError
from pytest_llmfair.results.table import Results, Row
from pytest_llmfair.text import MASK

_NAMES = (
    *("gender", "sex", "race", "ethnicity", "religion", "nationality", "disability", "age"),
    *("sexual_orientation", "protected_attribute", "protected_group", "demographic", "group"),
)
# Before the name of a lexicon: the groups are those that its words in the prompts name.
WORDS = "words:"
_MOST_GROUPS = 12
# Longer values are sentences; that they name a group says little.
_LONGEST_VALUE = 40
# Prompts that are read to find out which lexicons matter.
_LOOKED_AT = 200


@dataclass(frozen=True)
class Grouping:
    """The group of each row, and how it was found."""

    labels: list[str | None]
    # Fields whose values are the groups; none where words of the prompts are.
    fields: tuple[str, ...]
    how: str
    declared: bool
    # Name of the lexicon whose groups these are; "" for others.
    attribute: str
    # A prompt without what names the group.
    hide: Callable[[Row], str]

    @property
    def names(self) -> list[str]:
        """The groups, in the order of the file."""
        return list(dict.fromkeys(label for label in self.labels if label is not None))

    @property
    def where(self) -> str:
        """The fields, or "the prompts"."""
        return " x ".join(self.fields) or "the prompts"


def declared_groups(results: Results, fields: Sequence[str], names: Mapping[str, str]) -> Grouping:
    """Return the groups that a caller names: fields, values or words of prompts, or both."""
    if len(fields) == 1 and fields[0].startswith(WORDS):
        found = _by_lexicon(results, lexicon_of(fields[0].removeprefix(WORDS)))
        if found is None:
            raise ResultsError(f"no prompts of {results.files[0]} differ in {fields[0]} only")
        return replace(found, declared=True)
    for name in fields:
        if name not in results.fields:
            raise ResultsError(
                f"{results.files[0]} has no field {name!r}; {suggestion(name, results.fields)}"
            )
    if not fields:
        # The field that has the values named, if any has.
        own = (name for name, values in results.fields.items() if names.keys() <= {*values})
        fields = [*itertools.islice(own, 1)]
    if not fields:
        return _by_words(results, names)
    values = [_value(row, fields) for row in results.rows]
    strange = sorted({v for v in values if v is not None and v not in names}) if names else []
    if strange and names.keys().isdisjoint({*values} - {None}):
        raise ResultsError(
            f"none of {', '.join(names)} is a value of {' x '.join(fields)}, which has "
            f"{listed(strange, 6)}; write --groups 'VALUE=GROUP,...'"
        )
    return _of_values(results, values, tuple(fields), names, declared=True)


def guessed_groups(results: Results) -> Grouping | None:
    """Return the most plausible groups; None where nothing names any."""
    if results.pairs:
        values = [row.fields.get(results.pairs[0]) for row in results.rows]
        found = _of_values(results, values, results.pairs[:1], {}, declared=True)
        return replace(found, how=f"{results.tool} declares them")
    candidates = list(filter(lambda name: _may_group(results, name), results.fields))
    # A field called by the attribute comes first.
    candidates.sort(key=lambda name: _last(name) not in _NAMES)
    for name in candidates:
        values = [row.fields.get(name) for row in results.rows]
        found = _of_values(results, values, (name,), {})
        if found.attribute or _last(name) in _NAMES:
            return found
    return _by_lexicon(results)


def _last(name: str) -> str:
    return re.split(r"[./]", name.lower())[-1]


def _value(row: Row, fields: Sequence[str]) -> str | None:
    found = [row.fields.get(name) for name in fields]
    return None if None in found else ", ".join(map(str, found))


def _may_group(results: Results, name: str) -> bool:
    """Whether a field has few short values, and every answer has one of them."""
    values = results.fields[name]
    if not 2 <= len(values) <= _MOST_GROUPS or max(map(len, values)) > _LONGEST_VALUE:
        return False
    return all(name in row.fields for row in results.rows if row.fields)


def _of_values(
    results: Results,
    values: Sequence[str | None],
    fields: tuple[str, ...],
    names: Mapping[str, str],
    *,
    declared: bool = False,
) -> Grouping:
    distinct = list(dict.fromkeys(v for v in values if v is not None))
    labels: Mapping[str, str] = names or {value: value for value in distinct}
    attribute, how = "", f"the values of {' x '.join(fields)}"
    known = _named(list(dict.fromkeys(labels.values())))
    if known is not None:
        lexicon, group_of = known
        attribute, how = lexicon.name, f"its values name groups of {lexicon.name}"
        labels = {value: group_of[label] for value, label in labels.items()}
    hide = _hider(results, fields, lexicon if known else None)
    found = [None if v is None else labels.get(v) for v in values]
    return Grouping(found, fields, how, declared, attribute, hide)


def _lexicons() -> list[Lexicon]:
    return [each for each in load_lexicons().values() if each.language == "en"]


def _named(values: Sequence[str]) -> tuple[Lexicon, dict[str, str]] | None:
    """Return the lexicon of which each value names exactly one group, and these groups."""
    for lexicon in _lexicons() if len(values) <= _MOST_GROUPS else ():
        found = {value: _group_in(value, lexicon) for value in values}
        groups = {group for group in found.values() if group}
        if len(groups) > 1 and all(found.values()):
            return lexicon, {value: group for value, group in found.items() if group}
    return None


def _group_in(value: str, lexicon: Lexicon) -> str | None:
    if (called := lexicon.called(value)) is not None:
        return called
    named = {mention.group for mention in lexicon.mentions(value)}
    return named.pop() if len(named) == 1 else None


def _hider(
    results: Results, fields: Sequence[str], lexicon: Lexicon | None
) -> Callable[[Row], str]:
    """Return a function that masks the values of fields in a prompt, else words of a lexicon."""

    @functools.cache
    def masked() -> dict[str, tuple[str | None, str]]:
        return {} if lexicon is None else _twins(_prompts(results), lexicon)

    def hide(row: Row) -> str:
        text = row.prompt
        for value in sorted((row.fields.get(name, "") for name in fields), key=len, reverse=True):
            text = _without(text, value) if value else text
        return masked().get(text, (None, text))[1] if text == row.prompt else text

    return hide


def _prompts(results: Results) -> list[str]:
    return list(dict.fromkeys(row.prompt for row in results.rows if row.prompt))


def _without(text: str, words: str) -> str:
    return re.sub(rf"(?<!\w){re.escape(words)}(?!\w)", MASK, text, flags=re.IGNORECASE)


def _by_words(results: Results, names: Mapping[str, str]) -> Grouping:
    """Return the groups by the words that a caller names and one group of a prompt has."""
    longest_first = sorted(names, key=len, reverse=True)
    found: dict[str, tuple[str | None, str]] = {}
    for row in results.rows:
        if row.prompt not in found:
            text, groups = row.prompt, set()
            for words in longest_first:
                if (masked := _without(text, words)) != text:
                    groups.add(names[words])
                    text = masked
            found[row.prompt] = (groups.pop() if len(groups) == 1 else None, text)
    labels = [found[row.prompt][0] for row in results.rows]
    if len({*labels} - {None}) < 2:
        raise ResultsError(
            f"neither a field nor the prompts of {results.files[0]} have two of the values "
            f"{', '.join(names)}; write them as they are there: --groups 'the woman=female,...'"
        )
    how = f"words of the prompts: {listed(list(names), 6)}"
    known = _named(list(dict.fromkeys(names.values())))
    attribute = known[0].name if known else ""
    return Grouping(labels, (), how, True, attribute, lambda row: found[row.prompt][1])


def _by_lexicon(results: Results, *among: Lexicon) -> Grouping | None:
    """Return the groups in which prompts differ that are equal but for words of a lexicon."""
    prompts = _prompts(results)
    best: dict[str, str] = {}
    chosen = None
    for lexicon in among or _lexicons():
        if not any(lexicon.mentions(text) for text in prompts[:_LOOKED_AT]):
            continue
        twins = _twins(prompts, lexicon)
        found = {text: group for text, (group, _) in twins.items() if group is not None}
        if len(found) > len(best):
            best, chosen = found, lexicon
    if chosen is None:
        return None
    how = f"prompts that are equal but for words of {chosen.name}"
    labels = [best.get(row.prompt) for row in results.rows]
    hide = _hider(results, (), chosen)
    return Grouping(labels, (f"{WORDS}{chosen.name}",), how, False, chosen.name, hide)


def _twins(prompts: Sequence[str], lexicon: Lexicon) -> dict[str, tuple[str | None, str]]:
    """Return for each prompt the group in which it differs from its twins, and what they share."""
    alike: dict[str, list[str]] = {}
    for text in prompts:
        alike.setdefault(lexicon.mask(text), []).append(text)
    found: dict[str, tuple[str | None, str]] = {}
    for masked, texts in alike.items():
        named = [lexicon.mentions(text) for text in texts]
        places = range(min(map(len, named)))
        differing = [i for i in places if len({each[i].group for each in named}) > 1]
        for text, mentions in zip(texts, named, strict=True):
            group = mentions[differing[0]].group if differing else None
            same = [each.text for i, each in enumerate(mentions) if i not in differing]
            found[text] = (group, f"{masked} ({', '.join(same)})" if same else masked)
    return found
