"""Lexicon files and dicts: what ships, what users write, and errors with file, line and entry."""

from __future__ import annotations

import copy
import pickle
import re
import subprocess
import sys
from datetime import date
from importlib import resources
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from pytest_llmfair.counterfactuals import (
    Lexicon,
    generate_pairs,
    intersection,
    load_lexicons,
    mask,
    mentions,
    name_lexicon,
)
from pytest_llmfair.judging.facts import people
from pytest_llmfair.lexicons.attributes import digest_of_words
from pytest_llmfair.lexicons.grammar import Kind

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
TEAM = """\
name: team
groups: [day, night]
aliases: {day: [early shift, morning]}
lacks: [weekend]
reviewed: 2026-11-01
entries:
  - {role: noun, day: [{term: sunnies, register: slur}, {term: larks, register: neutral}],
     night: {term: owls}}
  - role: adjective
    day: bright
    night:
      - {term: gloomy, register: outdated}
"""
FAMILY = """\
extends: gender
groups: [agender]
lacks: [two-spirit]
aliases: {agender: genderless}
entries:
  - {role: occupation, female: seamstress, male: seamster}
  - {role: kinship, female: nan, male: grampa, agender: grandie}
exceptions: [fairy godmother]
neutral: [folks]
synonyms:
  - [nan, grandmother]
"""
SHIPPED_TWINS = {
    "age": ("An older nurse met a young pilot.", "A young nurse met an older pilot."),
    "disability": ("A blind nurse works here.", "A deaf nurse works here."),
    "gender": ("She sold her car.", "He sold his car."),
    "gender_es": ("Ella llegó tarde.", "Él llegó tarde."),
    "nationality": ("An Italian nurse works here.", "A Peruvian nurse works here."),
    "race": ("A Black nurse works here.", "An Asian nurse works here."),
    "religion": ("A Hindu nurse works here.", "An atheist nurse works here."),
    "sexual_orientation": ("A gay nurse works here.", "An asexual nurse works here."),
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "team.yaml"


def read(file: Path, text: str = TEAM) -> Lexicon:
    file.write_text(text, encoding="utf-8")
    return Lexicon.from_file(file)


def noun(day: Any, night: Any, **keys: Any) -> dict[str, Any]:
    return {"role": "noun", "day": day, "night": night, **keys}


def made(*entries: dict[str, Any], **keys: Any) -> Lexicon:
    data = {"name": "team", "groups": ["day", "night"], "entries": [*entries]}
    return Lexicon.from_dict({**data, **keys})


def twins(text: str, attribute: Any, groups: tuple[str, str] | None = None) -> list[str]:
    return [pair.counterfactual for pair in generate_pairs([text], attribute, groups)]


class TestShipped:
    def test_are_listed_in_alphabetical_order_and_read_once(self) -> None:
        assert list(load_lexicons()) == sorted(SHIPPED_TWINS)
        assert load_lexicons()["gender"] is load_lexicons()["gender"]

    @pytest.mark.parametrize("name", SHIPPED_TWINS)
    def test_each_exchanges_a_sentence(self, name: str) -> None:
        text, twin = SHIPPED_TWINS[name]
        pairs = generate_pairs([text], name)
        assert twin in [pair.counterfactual for pair in pairs]
        assert not pairs.rejected

    def test_state_source_licence_limits_review_and_missing_groups(self) -> None:
        for name, lexicon in load_lexicons().items():
            assert (lexicon.name, lexicon.licence) == (name, "Apache-2.0")
            assert "written for" in lexicon.source
            assert len(lexicon.limits) > 100
            assert isinstance(lexicon.reviewed, date)
            assert lexicon.lacks
            assert all(entry.reviewed is not None for entry in lexicon.entries), name

    def test_gender_has_a_counterpart_for_every_binary_term(self) -> None:
        for entry in load_lexicons()["gender"].entries:
            if entry.role != "unpaired":
                assert ("female" in entry.terms) == ("male" in entry.terms), entry

    def test_gender_explains_every_kind_in_its_head(self) -> None:
        data = resources.files("pytest_llmfair.lexicons") / "data" / "gender.yaml"
        head = data.read_text(encoding="utf-8").partition("# A term can be")[0]
        assert tuple(re.findall(r"^#(?: {3}kind: | {9})(\w+) ", head, re.M)) == get_args(Kind)

    def test_say_what_messages_call_the_people_of_every_group(self) -> None:
        for name, lexicon in load_lexicons().items():
            assert [*lexicon.members] == [*lexicon.groups], name

    def test_gender_gives_in_its_head_the_places_of_the_words_of_seven(self) -> None:
        data = resources.files("pytest_llmfair.lexicons") / "data" / "gender.yaml"
        head = data.read_text(encoding="utf-8").partition("# A lexicon of yours")[0]
        listed = re.findall(r"(\w+) (\d+)[,;]", head.partition("word_order")[2])
        assert len(listed) == 7
        for name, place in listed:
            assert load_lexicons()[name].word_order == int(place), name

    def test_are_not_read_before_they_are_used(self) -> None:
        code = (
            "import sys; from pytest_llmfair.counterfactuals import load_lexicons;"
            "import pytest_llmfair.judging.facts; list(load_lexicons());"
            "print('yaml' in sys.modules, 'torch' in sys.modules)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert done.stdout.split() == ["False", "False"]

    def test_cannot_be_changed(self) -> None:
        for change in [
            lambda lexicon: lexicon.aliases.update(chick="female"),
            lambda lexicon: lexicon.aliases.__setitem__("chick", "female"),
            lambda lexicon: lexicon.aliases.pop("non-binary"),
            lambda lexicon: lexicon.neutral_nouns.clear(),
            lambda lexicon: lexicon.entries[0].terms.__setitem__("female", ("chick",)),
            lambda lexicon: lexicon.entries[0].registers.setdefault("she", "slur"),
        ]:
            with pytest.raises(TypeError, match="the data of a lexicon cannot be changed"):
                change(load_lexicons()["gender"])
            assert "chick" not in load_lexicons()["gender"].aliases

    def test_can_be_sent_between_processes(self) -> None:
        text = "John gave her Black sister his book."
        gender, race = load_lexicons()["gender"], load_lexicons()["race"]
        for lexicon in (gender, name_lexicon(("John", "Jane")), intersection(gender, race)):
            assert lexicon.mask(text) != text
            again = pickle.loads(pickle.dumps(lexicon))
            assert again == lexicon == copy.deepcopy(lexicon)
            assert hash(again) == hash(lexicon)
            assert again.mask(text) == lexicon.mask(text)
            assert generate_pairs([text], again) == generate_pairs([text], lexicon)

    def test_are_equal_if_their_words_are(self) -> None:
        gender, race = load_lexicons()["gender"], load_lexicons()["race"]
        other = Lexicon.from_dict({"extends": "gender", "neutral": ["zorp"]})
        assert len({gender, race, other}) == 3
        assert gender != "gender"

    def test_are_shown_in_one_line(self) -> None:
        gender, race = load_lexicons()["gender"], load_lexicons()["race"]
        for shown in (gender, intersection(gender, race)):
            assert re.fullmatch(r"Lexicon\('[a-z ]+', en, \d+ groups, \d+ entries\)", repr(shown))


class TestUnknownNames:
    def test_are_answered_with_the_nearest(self) -> None:
        with pytest.raises(
            KeyError, match=r"no lexicon is called 'gander'; did you mean gender\?"
        ):
            load_lexicons()["gander"]

    @pytest.mark.parametrize(("name", "meant"), CASES["other names"])
    def test_of_a_known_attribute_are_answered_with_its_own(self, name: str, meant: str) -> None:
        with pytest.raises(ValueError, match=rf"is called '{name}'; did you mean {meant}\?"):
            generate_pairs(["She left."], name)

    @pytest.mark.parametrize("attribute", [{"name": "team"}, None, 3, Path("team.yaml")])
    def test_that_are_not_texts_are_answered_with_how_to_read_one(self, attribute: Any) -> None:
        assert attribute not in load_lexicons()
        with pytest.raises(
            ValueError, match=r"Lexicon\.from_file and Lexicon\.from_dict read one"
        ):
            generate_pairs(["She left."], attribute)


class TestFiles:
    def test_join_the_shipped_ones_or_replace_one(self, file: Path) -> None:
        read(file)
        lexicons = load_lexicons(file)
        assert "gender" in lexicons
        assert twins("The owls left.", lexicons["team"]) == ["The larks left."]
        read(file, TEAM.replace("name: team", "name: gender"))
        assert load_lexicons(file)["gender"].groups == ("day", "night")
        assert len(load_lexicons(file)) == len(load_lexicons())

    def test_may_be_in_another_script(self, file: Path) -> None:
        text = """
            name: género
            language: ru
            groups: [ж, м]
            entries: [{role: noun, ж: [Она], м: [Он]}, {role: noun, ж: 她, м: 他}]
        """
        assert twins("ОНА и он: 她是医生", read(file, text)) == ["ОН и она: 他是医生"]

    def test_state_review_date_and_missing_groups(self, file: Path) -> None:
        own = read(file)
        assert (own.reviewed, own.lacks) == (date(2026, 11, 1), ("weekend",))

    @pytest.mark.parametrize(
        ("old", "new"),
        [("bright", "' very \n    bright'"), ("2026-11-01", "2026-11-01 08:00:00")],
    )
    def test_lose_line_breaks_in_terms_and_times_of_dates(
        self, file: Path, old: str, new: str
    ) -> None:
        own = read(file, TEAM.replace(old, new))
        assert own.reviewed == date(2026, 11, 1)
        assert own.entries[1].terms["day"] in (("bright",), ("very bright",))

    @pytest.mark.parametrize(("old", "new", "message"), CASES["file errors"])
    def test_with_an_error_name_line_and_entry(
        self, file: Path, old: str, new: str, message: str
    ) -> None:
        with pytest.raises(ValueError, match=message):
            read(file, TEAM.replace(old, new, 1))

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", r"team\.yaml: the content is empty; give a mapping of name, groups and entries"),
            ("[x]", r"team\.yaml: the content is a list; give a mapping of name, groups"),
            ("name: team\ngroups: [day\n", r"team\.yaml:3: this is not valid YAML.*line 2"),
            ("!!python/object/apply:os.getcwd []", "is not valid YAML"),
        ],
    )
    def test_that_are_not_mappings_are_errors(self, file: Path, text: str, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            read(file, text)

    def test_that_are_missing_or_folders_are_errors(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError, match=r"there is no file .*; give the path"):
            load_lexicons(tmp_path / "none.yaml")
        with pytest.raises(IsADirectoryError, match="is a folder; give the path of a file in it"):
            Lexicon.from_file(tmp_path)

    def test_of_one_name_are_an_error(self, tmp_path: Path) -> None:
        files = [tmp_path / "first.yaml", tmp_path / "second.yaml"]
        for file in files:
            file.write_text(TEAM, encoding="utf-8")
        with pytest.raises(ValueError, match="a file before it is called 'team' too"):
            load_lexicons(*files)


class TestDicts:
    @pytest.mark.parametrize(("changes", "message"), CASES["dict errors"])
    def test_with_an_error_name_the_source_and_the_entry(
        self, changes: dict[str, Any], message: str
    ) -> None:
        data = {"name": "team", "groups": ["day", "night"], "entries": [noun("a", "b")], **changes}
        with pytest.raises(ValueError, match=message) as caught:
            Lexicon.from_dict(data, "team.yaml")
        assert str(caught.value).startswith("team.yaml")

    def test_may_hold_one_text_for_a_list_and_tuples_for_lists(self) -> None:
        assert made(noun("a", "b"), exceptions="ok, no").exceptions == ("ok, no",)
        lexicon = made(noun(("lark", "early bird"), "owl"), groups=("day", "night"))
        assert twins("An early bird", lexicon) == ["An owl"]

    def test_give_every_term_the_date_of_its_review(self) -> None:
        own = noun("lark", "owl", reviewed="2025-01-31")
        first, second = made(noun("sun", "moon"), own, reviewed="2026-05-01").entries
        assert (first.reviewed, second.reviewed) == (date(2026, 5, 1), date(2025, 1, 31))
        with pytest.raises(ValueError, match=r"entry 1, reviewed is 'May'; give a date"):
            made(noun("lark", "owl", reviewed="May"))


class TestRegisters:
    def test_of_every_kind_are_found(self, file: Path) -> None:
        found = read(file).mentions("sunnies, larks, owls, gloomy")
        assert [m.register for m in found] == ["slur", "neutral", "preferred", "outdated"]

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("The owls left.", ["The larks left."]),
            ("The sunnies left.", ["The owls left."]),
            ("a bright idea", []),
        ],
    )
    def test_slurs_and_outdated_words_are_replaced_but_never_written(
        self, file: Path, text: str, expected: list[str]
    ) -> None:
        assert twins(text, read(file)) == expected


class TestAliases:
    def test_stand_for_their_group(self, file: Path) -> None:
        own = read(file)
        assert own.group("morning") == own.group("early shift") == own.group("day") == "day"
        (pair,) = generate_pairs(["owls"], own, groups=("night", "morning"))
        assert (pair.from_group, pair.to_group) == ("night", "day")

    def test_can_be_keys_of_entries_and_default_groups(self, file: Path) -> None:
        text = TEAM.replace("day: bright", "morning: bright")
        own = read(file, text + "default_groups: [night, morning]\n")
        assert own.default_groups == ("night", "day")
        assert [m.group for m in own.mentions("bright")] == ["day"]

    def test_of_one_group_are_not_two_groups(self, file: Path) -> None:
        with pytest.raises(ValueError, match="give two different ones"):
            generate_pairs(["owls"], read(file), groups=("day", "morning"))


class TestMembers:
    def test_are_called_as_the_file_says_where_it_was_read(self, file: Path) -> None:
        text = TEAM.replace("name: team", "name: crew\nmembers: {day: people on days}")
        assert read(file, text).members == {"day": "people on days"}
        assert [people("crew", group) for group in ("day", "night")] == [
            "people on days",
            'group "night"',
        ]

    def test_are_no_words_whose_digest_a_record_has(self, file: Path) -> None:
        known = digest_of_words(read(file))
        other = read(file, f"{TEAM}members: {{day: larks}}\nword_order: 3\n")
        assert digest_of_words(other) == known
        assert digest_of_words(read(file, f"{TEAM}neutral: birds\n")) != known

    def test_of_a_shipped_lexicon_go_by_any_name_of_their_group(self) -> None:
        assert people("race", "african american") == "Black people"

    def test_of_an_extended_lexicon_are_added(self, file: Path) -> None:
        own = read(file, f"{FAMILY}name: family\nmembers: {{agender: agender people}}\n")
        assert own.members == {**load_lexicons()["gender"].members, "agender": "agender people"}
        assert [people("family", group) for group in ("agender", "female")] == [
            "agender people",
            "women",
        ]
        assert people("gender", "agender") == 'group "agender"'

    def test_of_a_shipped_lexicon_are_not_those_of_another_by_its_name(self, file: Path) -> None:
        own = f"{FAMILY}name: gender\nmembers: {{female: ladies}}\n"
        assert read(file, own).members["female"] == "ladies"
        assert people("gender", "female") == "women"


class TestDeterminers:
    ONE = ({"day": "a day", "night": "a night"},)

    def test_come_before_a_noun_and_agree(self) -> None:
        own = made(noun("lark", "owl", determiner="one"), determiners={"one": self.ONE})
        assert twins("A day lark and larks saw a lark.", own) == [
            "A night owl and larks saw an owl."
        ]

    def test_show_the_group_of_a_noun_for_both(self) -> None:
        own = made(noun("clerk", "clerk", determiner="one"), determiners={"one": self.ONE})
        assert twins("One clerk.", own) == []
        assert twins("Ask a day clerk.", own) == ["Ask a night clerk."]

    def test_without_one_for_a_group_are_an_error(self) -> None:
        with pytest.raises(ValueError, match=r"entry 1 \(noun\): .*without one for 'night'"):
            made(noun("lark", "owl", determiner="one"), determiners={"one": [{"day": "a"}]})


class TestRanges:
    def test_make_an_entry_for_every_step(self) -> None:
        tiers = made(noun("tier {1..3}", ["tier {11..13}", "level {11..13}"]))
        assert [entry.terms for entry in tiers.entries] == [
            {"day": (f"tier {n}",), "night": (f"tier {n + 10}", f"level {n + 10}")}
            for n in (1, 2, 3)
        ]
        text = "Tier 2 and level 13 and tier 4."
        assert twins(text, tiers) == ["Tier 12 and tier 3 and tier 4."]

    def test_can_be_written_in_words(self) -> None:
        tiers = made(noun("tier {nineteen..twenty-one}", "tier {89..91}"))
        assert [entry.terms["day"] for entry in tiers.entries] == [
            (f"tier {word}",) for word in ("nineteen", "twenty", "twenty-one")
        ]

    def test_can_be_in_a_term_with_a_register(self) -> None:
        tiers = made(noun("tier {1..2}", {"term": "tier {8..9}", "register": "neutral"}))
        assert [m.register for m in mentions("tier 9, tier 1", tiers)] == ["neutral", "preferred"]

    @pytest.mark.parametrize(("terms", "message"), CASES["range errors"])
    def test_that_do_not_fit_are_errors(self, terms: dict[str, str], message: str) -> None:
        with pytest.raises(ValueError, match=message) as error:
            made({"role": "noun", **terms}, groups=["low", "high"])
        assert "entry 1 (noun" in str(error.value)


class TestTermsInTerms:
    def test_are_read_alike_after_an_exchange(self) -> None:
        own = made(noun("sun", "moon"), noun("old sun", "star"))
        for text in ("old sun", "old moon", "star", "moon"):
            for pair in generate_pairs([text], own):
                assert own.mask(pair.original) == own.mask(pair.counterfactual)

    def test_of_exceptions_are_untouched_on_both_sides(self) -> None:
        assert (
            twins("sun cream, moon cream", made(noun("sun", "moon"), exceptions=["sun cream"]))
            == []
        )

    def test_that_never_end_are_an_error(self) -> None:
        own = made(noun("old", "very young"), noun("young", "very old"), exceptions=["old town"])
        with pytest.raises(ValueError, match="terms of this lexicon contain each other"):
            own.mentions("an old friend")

    def test_that_contain_their_counterpart_are_found_whole(self) -> None:
        own = made(noun(["pains", "back pains"], "no pains"))
        assert [mention.text for mention in own.mentions("back pains")] == ["back pains"]

    def test_include_marks_at_their_ends(self) -> None:
        own = made(noun("C++", "LGBTQ+"))
        assert own.mentions("Take vitamin C.") == []
        assert twins("I code C++.", own) == ["I code LGBTQ+."]
        assert own.mask("I code C++.") == "I code [MASK]."


class TestExtending:
    def test_adds_terms_groups_and_exceptions(self, file: Path) -> None:
        own, gender = read(file, FAMILY), load_lexicons()["gender"]
        assert twins("The seamstress and her aunt", own) == ["The seamster and his uncle"]
        assert twins("His nan left.", own, ("female", "genderless")) == ["His grandie left."]
        assert mask("Our fairy godmother, folks", own) == "Our fairy godmother, [MASK]"
        assert own.groups == (*gender.groups, "agender")
        assert (own.name, own.default_groups) == ("gender", ("female", "male"))
        assert own.lacks == (*gender.lacks, "two-spirit")
        assert own.unmarked == gender.unmarked
        assert [entry.reviewed is None for entry in own.entries[:3]] == [True, True, False]

    def test_reads_and_writes_its_own_terms_first(self) -> None:
        entries = [{"role": "noun", "female": "woman", "male": "bloke"}]
        own = Lexicon.from_dict({"extends": "gender", "entries": entries})
        assert twins("A woman left.", own) == ["A bloke left."]
        assert twins("A woman left.", own, ("female", "nonbinary")) == ["A nonbinary person left."]

    def test_joins_synonyms(self, file: Path) -> None:
        (pair,) = generate_pairs(["Her nan left."], read(file, FAMILY), placebo=True)
        assert pair.placebo == "Her grandmother left."

    def test_can_add_a_group_that_was_lacking(self) -> None:
        entries = [{"role": "noun", "female": "gal", "intersex": "enby"}]
        own = Lexicon.from_dict({"extends": "gender", "groups": ["intersex"], "entries": entries})
        assert "intersex" not in own.lacks
        assert twins("A gal left.", own, ("female", "intersex")) == ["An enby left."]

    def test_needs_no_entries(self) -> None:
        own = Lexicon.from_dict({"extends": "gender", "exceptions": ["Lady Bird"]})
        assert own.entries == load_lexicons()["gender"].entries
        assert twins("Lady Bird lives.", own) == []

    def test_exchanges_a_new_group_where_all_groups_are_exchanged(self) -> None:
        entries = [{"role": "adjective", "jain": "Jain", "hindu": "Hindu"}]
        own = Lexicon.from_dict({"extends": "religion", "groups": ["jain"], "entries": entries})
        assert own.default_groups == own.groups
        assert "jain" in own.default_groups

    def test_replaces_the_shipped_lexicon_only_under_its_name(self, file: Path) -> None:
        read(file, FAMILY)
        assert load_lexicons(file)["gender"].groups[-1] == "agender"
        read(file, FAMILY + "name: family\n")
        assert {"family", "gender"} <= {*load_lexicons(file)}

    @pytest.mark.parametrize(("old", "new", "message"), CASES["extending errors"])
    def test_with_an_error_names_line_and_entry(
        self, file: Path, old: str, new: str, message: str
    ) -> None:
        with pytest.raises(ValueError, match=message):
            read(file, FAMILY.replace(old, new, 1))

    @pytest.mark.parametrize(("keys", "message"), CASES["extending dict errors"])
    def test_with_an_error_in_a_dict_names_the_key(self, keys: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            Lexicon.from_dict({"extends": "gender", **keys})

    def test_two_words_of_one_group_need_a_lexicon_of_their_own(self) -> None:
        with pytest.raises(ValueError, match="two words of your choice, give a Lexicon"):
            generate_pairs(["A Catholic nurse."], "religion", ("Catholic", "Methodist"))
        adjective = noun("Catholic", "Methodist", kind="person_adjective") | {"role": "adjective"}
        own = made(adjective, noun("Catholics", "Methodists"))
        assert twins("A Catholic nurse met Methodists.", own) == [
            "A Methodist nurse met Catholics."
        ]
