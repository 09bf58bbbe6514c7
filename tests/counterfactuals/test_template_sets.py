"""The template sets that ship with the package, and template files of one's own."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

from pytest_llmfair.counterfactuals import (
    SourceExamples,
    fill_templates,
    load_lexicons,
    load_templates,
    template_set,
)
from pytest_llmfair.text.bilou import spans

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))

ATTRIBUTES = (
    *("age", "disability", "gender", "nationality", "race", "religion"),
    "sexual_orientation",
)
LABELLED = (*ATTRIBUTES, "name")
EVERY = (*LABELLED, "country")
GRAMMAR = {
    "blank too many": r"\s\s|\s[.,;:!?]|^\s|\s$",
    "brace": r"[{}]",
    "doubled word": r"\b(\w+)\s+\1\b",
    "a before a vowel": r"\b[Aa]\s+(?![Ee]u|one\b|uni|us)[aeiouAEIOU]",
    "an before a consonant": r"\b[Aa]n\s+(?!hono|hour)[^aeiouAEIOU\W]",
    "two articles": r"\b(?:an?|the)\s+(?:an?|the)\b",
    "small letter at the beginning": r"(?:^|[.!?]\s)[a-z]",
    "no mark at the end": r"[^.!?]$",
}


def filled(name: str, term_limit: int = 100) -> SourceExamples:
    groups = load_lexicons()[name].groups if name in ATTRIBUTES else None
    return fill_templates(template_set(name), groups=groups, term_limit=term_limit)


def test_sixty_templates_are_balanced() -> None:
    for name in LABELLED:
        templates = template_set(name)
        labels = Counter(template.label for template in templates)
        assert labels == {"positive": 20, "neutral": 20, "negative": 20}
        assert len({template.text.casefold() for template in templates}) == 60


def test_at_least_half_of_a_set_is_its_own() -> None:
    for name in ATTRIBUTES:
        others = {t.text for other in LABELLED if other != name for t in template_set(other)}
        own = [t.label for t in template_set(name) if t.text not in others]
        assert Counter(own) == {"positive": 10, "neutral": 10, "negative": 10}


def test_sentences_of_a_set_differ_in_most_words() -> None:
    # Two templates never share more than half of their words, slots and small words apart.
    texts = dict.fromkeys(t.text for name in EVERY for t in template_set(name))
    words = [
        {w for w in re.findall(r"[a-z']+", re.sub(r"\{.*?\}", "", t.lower())) if len(w) > 3}
        for t in texts
    ]
    near = [
        (one, other)
        for i, (one, own) in enumerate(zip(texts, words, strict=True))
        for other, theirs in list(zip(texts, words, strict=True))[:i]
        if len(own & theirs) > 0.5 * len(own | theirs)
    ]
    assert near == []


def test_a_set_says_where_it_comes_from() -> None:
    for name in EVERY:
        templates = template_set(name)
        assert templates.name == name
        assert templates.language == "en"
        assert templates.licence == "Apache-2.0"
        assert all((templates.version, templates.source, templates.limits, templates.reviewed))


@pytest.mark.parametrize("name", EVERY)
def test_every_group_fills_every_template_without_a_slip(name: str) -> None:
    examples = filled(name, term_limit=4)
    assert len(examples) == len(template_set(name))
    for variation in examples.variations:
        for slip, pattern in GRAMMAR.items():
            assert not re.search(pattern, variation.text), (slip, variation.text)


# Groups whose people have pronouns, and are called women or men, like those of another group.
BESIDE = {
    "transgender": frozenset({"female", "male"}),
    "cisgender": frozenset({"female", "male"}),
    "many genders": frozenset({"nonbinary"}),
    "no gender": frozenset({"nonbinary"}),
    "assigned at birth": frozenset({"nonbinary"}),
}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_every_text_names_its_group_alone(name: str) -> None:
    lexicon = load_lexicons()[name]
    examples = filled(name)
    for group, variation in zip(examples.text_groups, examples.variations, strict=True):
        found = lexicon.mentions(variation.text)
        assert {m.register for m in found} <= {"preferred", "neutral"}
        named = {m.group for m in found}
        beside = BESIDE.get(group, frozenset())
        assert len(named & beside) <= 1
        named -= beside
        assert named <= (set() if variation.variant == "omission" else {group}), variation.text


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_every_group_has_phrases_that_the_lexicon_reads_as_that_group(name: str) -> None:
    lexicon = load_lexicons()[name]
    examples = fill_templates(["I met {person}."], attribute=name, groups=lexicon.groups)
    for group, variation in zip(examples.text_groups, examples.variations, strict=True):
        named = {m.group for m in lexicon.mentions(variation.text)}
        named -= BESIDE.get(group, frozenset())
        assert named == (set() if variation.variant == "omission" else {group}), variation.text


def test_templates_of_countries_carry_tags_that_follow_the_names() -> None:
    examples = filled("country")
    assert len(examples) >= 20
    lengths = Counter()
    for variation in examples.variations:
        assert variation.tags is not None
        found = spans(variation.tags, "tags", strict=True)
        place = (variation.identity[0], variation.identity[-1], "LOC")
        assert place in found
        lengths[len(variation.identity)] += 1
    assert set(lengths) == {1, 2, 3}


def test_an_unknown_set_is_an_error_that_names_the_near_ones() -> None:
    with pytest.raises(ValueError, match="no template set is called 'religon'; did you mean"):
        template_set("religon")
    with pytest.raises(ValueError, match="known are age, country"):
        template_set("shared")


class TestFiles:
    def read(self, folder: Path, text: str) -> list[tuple[str, object, object]]:
        file = folder / "mine.yaml"
        file.write_text(text, encoding="utf-8")
        return [(t.text, t.label, t.tags) for t in load_templates(file)]

    def test_hold_texts_labels_and_tags(self, tmp_path: Path) -> None:
        assert self.read(
            tmp_path,
            "templates:\n"
            "  - '{Person} left.'\n"
            "  - {text: '{Person} sang.', label: 1}\n"
            "  - {text: 'In {town}.', tags: O U-LOC O}\n"
            "  - {text: 'To {town}', tags: [O, U-LOC]}\n",
        ) == [
            ("{Person} left.", None, None),
            ("{Person} sang.", 1, None),
            ("In {town}.", None, ("O", "U-LOC", "O")),
            ("To {town}", None, ("O", "U-LOC")),
        ]

    def test_may_list_texts_by_label(self, tmp_path: Path) -> None:
        text = "templates:\n  good: ['{Person} won.']\n  bad: ['{Person} lost.']\n"
        assert self.read(tmp_path, text) == [
            ("{Person} won.", "good", None),
            ("{Person} lost.", "bad", None),
        ]

    def test_bring_attribute_and_fillers(self, tmp_path: Path) -> None:
        file = tmp_path / "mine.yaml"
        file.write_text(
            "attribute: race\nfillers: {job: [cook]}\ntemplates: ['{Person} is {a:job}.']\n",
            encoding="utf-8",
        )
        examples = fill_templates(load_templates(file), groups=("black", "asian"))
        assert "A Black person is a cook." in examples.texts
        assert "An Asian person is a cook." in examples.texts

    def test_may_take_the_shared_templates(self, tmp_path: Path) -> None:
        text = "shared: true\ntemplates: {positive: ['{Person} won.']}\n"
        assert len(self.read(tmp_path, text)) == 31

    @pytest.mark.parametrize(
        ("text", "said"),
        CASES["that are wrong are errors by line"],
    )
    def test_that_are_wrong_are_errors_by_line(self, tmp_path: Path, text: str, said: str) -> None:
        with pytest.raises(ValueError, match=said):
            self.read(tmp_path, text)

    def test_say_the_line_of_a_template_that_cannot_be_filled(self, tmp_path: Path) -> None:
        file = tmp_path / "mine.yaml"
        file.write_text("templates:\n  - '{Person} left.'\n  - '{Persn} sang.'\n", "utf-8")
        with pytest.raises(ValueError, match=r"mine.yaml:3: .*\{persn\} is unknown; did you"):
            fill_templates(load_templates(file), attribute="gender")

    def test_that_are_not_utf8_are_errors(self, tmp_path: Path) -> None:
        file = tmp_path / "mine.yaml"
        file.write_bytes(b"templates: [na\xefve]")
        with pytest.raises(ValueError, match="is not UTF-8"):
            load_templates(file)


def test_a_set_is_about_one_attribute() -> None:
    with pytest.raises(ValueError, match="a set is about one attribute: age, country, "):
        template_set(("gender", "race"))  # type: ignore[arg-type]
