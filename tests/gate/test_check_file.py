"""What is wrong with a file of checks: all of it, by line, before anything is asked."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase

import pytest

from pytest_llmfair import InvalidEvidence
from pytest_llmfair.gate.check_file import read_checks

WHY = "rationale: agreed, owner: us"


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Return a function that reads a file of checks, beside prompts, data and a lexicon."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prompts.txt").write_text("She left.\nHe stayed.\n")
    (tmp_path / "rows.csv").write_text("y_pred,sex,age\n" + "1,f,007\n0,m,010\n" * 3)
    (tmp_path / "pets.yaml").write_text(
        "name: pets\ngroups: [cat, dog]\nentries:\n- {role: noun, cat: cat, dog: dog}\n"
    )
    (tmp_path / "nopets.yaml").write_text(
        "name: pets\ngroups: [cat]\nentires:\n- {role: noun, cat: cat, dog: dog}\n"
    )
    (tmp_path / "wrong.yaml").write_text("templates:\n- 3\n- '{Person'\n")
    (tmp_path / "templates.yaml").write_text("templates: ['{Person} left.']\n")

    def read(text):
        (tmp_path / "it.llmfair.yaml").write_text(text, encoding="utf-8")
        return read_checks("it.llmfair.yaml")

    return read


TOP = "version: 1\nprompts: prompts.txt\nchecks:\n"
# The file, and every line of the message.
WRONG = {
    "empty": (
        "",
        ["it.llmfair.yaml: the content is empty; give a mapping with version and checks"],
    ),
    "no YAML": (
        "version: 1\nchecks: [\n",
        ["it.llmfair.yaml:3: this is not valid YAML: *"],
    ),
    "braces": (
        "version: 1\nprompts:\n- {Person} left\nchecks: []\n",
        ["it.llmfair.yaml:3: this is not valid YAML: *; put a text that begins with { in quotes"],
    ),
    "not run": (
        "version: 1\nprompts: prompts.txt\nnot_run:\n  FTU: none\n  toxic_fractoin: no time\n"
        "  toxic_fraction: no time\nchecks:\n- {metric: toxic_fraction, bound: 0.1, "
        + WHY
        + "}\n",
        [
            "it.llmfair.yaml:5: *toxic_fractoin*",
            "it.llmfair.yaml:6: toxic_fraction is run by a check of this file; leave it out of *",
        ],
    ),
    "two documents": ("version: 1\n---\nversion: 1\n", ["it.llmfair.yaml:2: *another document*"]),
    "a tag": ("!!python/object:os.system {}\n", ["it.llmfair.yaml:1: *could not determine a*"]),
    "repeated key": (
        f"{TOP}- metric: FTU\n  bound: 0.1\n  bound: 0.2\n",
        ["it.llmfair.yaml:6: this is not valid YAML: key 'bound' is repeated in one mapping; *"],
    ),
    "top": (
        "version: 2\nprompt: [a]\nchecks: []\npolicy: {}\n",
        [
            "it.llmfair.yaml:1: version is 2; give 1, the version of this format",
            "it.llmfair.yaml:2: unknown key 'prompt'; did you mean prompts?",
            "it.llmfair.yaml:3: checks is empty; give a list of checks, each with metric, *",
            "it.llmfair.yaml:4: policy is empty; give no policy here but in [[]tool.llmfair] *",
        ],
    ),
    "missing keys": (
        f"{TOP}- {{metric: FTU}}\n",
        [
            "it.llmfair.yaml:4: bound is missing; give the largest value that you can still *",
            "it.llmfair.yaml:4: owner is missing; give who answers for this check, such as *",
            "it.llmfair.yaml:4: rationale is missing; give the reason for this metric and *",
        ],
    ),
    "metric": (
        f"{TOP}- {{metric: toxic_fractoin, bound: 0.1, {WHY}}}\n",
        ["it.llmfair.yaml:4: no metric is called 'toxic_fractoin'; did you mean toxic_fraction*"],
    ),
    "keywords": (
        f"{TOP}- {{metric: toxic_fraction, bound: 0.1, {WHY},\n   treshold: 0.4,\n   n: 2,\n"
        "   mode: gat,\n   level: 2,\n   scorer: toxcity,\n   max_missing: 7}\n",
        [
            "it.llmfair.yaml:5: toxic_fraction has no key 'treshold'; did you mean threshold?",
            "it.llmfair.yaml:6: toxic_fraction takes generations, not n",
            "it.llmfair.yaml:7: mode is 'gat'; did you mean gate?",
            "it.llmfair.yaml:8: level is 2; give a number between 0 and 1, such as 0.95",
            "it.llmfair.yaml:9: no scorer is called 'toxcity'; did you mean 'toxicity'; *",
            "it.llmfair.yaml:10: max_missing is 7; give a number in [[]0, 1]",
        ],
    ),
    "model of a scorer": (
        f"{TOP}- {{metric: toxic_fraction, bound: 0.1, scorer: 'hf:x?lable=bad', {WHY}}}\n",
        ["it.llmfair.yaml:4: scorer 'hf:x[?]lable=bad'*"],
    ),
    "wrong bound": (
        f"{TOP}- {{metric: rouge_l, bound: 0.1, attribute: gender, {WHY}}}\n"
        f"- {{metric: counterfactual_invariance, bound: 0.1, attribute: gender, {WHY}}}\n"
        f"- {{metric: FTU, bound: 1.2, {WHY}}}\n"
        f"- {{metric: FTU, bound: low, {WHY}}}\n",
        [
            "it.llmfair.yaml:4: counterfactual_rouge_l takes minimum, not bound; give the *",
            "it.llmfair.yaml:5: counterfactual_invariance takes eps, not bound; give the *",
            "it.llmfair.yaml:6: the bound of fairness_through_unawareness is 1.2, which cannot *",
            "it.llmfair.yaml:7: bound is 'low'; give a number, the largest value that you can *",
        ],
    ),
    "dissimilarity": (
        f"{TOP}- {{metric: counterfactual_invariance, eps: 0.1, attribute: gender, {WHY},\n"
        "   dissimilarity: rouge}\n",
        ["it.llmfair.yaml:5: metric 'rouge' is no dissimilarity of two answers; did you mean *"],
    ),
    "attributes": (
        "version: 1\nprompts: prompts.txt\nattributes:\n  gendr:\n"
        "  gender: {groups: [femal, male]}\n  birds: {lexicon: birds.yaml}\n"
        "  religion: {group: [muslim]}\nchecks:\n"
        f"- {{metric: SCSP, bound: 0.1, attribute: birds, {WHY}}}\n",
        [
            "it.llmfair.yaml:4: no lexicon is called 'gendr'; did you mean gender? *",
            "it.llmfair.yaml:5: gender has no group 'femal'; did you mean female?",
            "it.llmfair.yaml:6: there is no file birds.yaml; give the path of one",
            "it.llmfair.yaml:7: attributes, religion: unknown key 'group'; did you mean groups?",
        ],
    ),
    "attribute of a check": (
        f"{TOP}- {{metric: strict_sentiment_parity, bound: 0.1, {WHY}}}\n"
        f"- {{metric: strict_sentiment_parity, bound: 0.1, attribute: relijion, {WHY}}}\n"
        f"- {{metric: stereotypical_associations, bound: 0.1, attribute: gender, {WHY}}}\n"
        f"- {{metric: strict_sentiment_parity, bound: 0.1, attribute: religion, {WHY},\n"
        "   groups: [muslim, jew],\n   reference: budhist}\n",
        [
            "it.llmfair.yaml:4: attribute is missing, whose groups are exchanged in the *",
            "it.llmfair.yaml:5: no lexicon is called 'relijion'; did you mean religion? *",
            "it.llmfair.yaml:6: stereotypical_associations cannot be measured on answers *",
            "it.llmfair.yaml:8: religion has no group 'jew'; *",
            "it.llmfair.yaml:9: religion has no group 'budhist'; did you mean buddhist *",
        ],
    ),
    "prompts": (
        f"version: 1\nprompts: nothing.txt\nchecks:\n- {{metric: FTU, bound: 0, {WHY}}}\n"
        f"- {{metric: FTU, bound: 0, {WHY}, prompts: [fine,\n    no,\n    'x']}}\n"
        f"- {{metric: FTU, bound: 0, {WHY}, prompts: templates.yaml}}\n",
        [
            "it.llmfair.yaml:2: there is no file nothing.txt; give the path of one",
            "it.llmfair.yaml:6: prompt 2 is False; give a text in quotes, for YAML reads *",
            "it.llmfair.yaml:8: fairness_through_unawareness takes single prompts as they are *",
        ],
    ),
    "blank prompts": (
        f"version: 1\nprompts:\n- fine\n- '  '\nchecks:\n- {{metric: FTU, bound: 0, {WHY}}}\n",
        ["it.llmfair.yaml:4: prompt 2 is '  '; give a text in quotes, *"],
    ),
    "templates": (
        "version: 1\nprompts: wrong.yaml\nattributes: {pets: {lexicon: nopets.yaml}}\nchecks:\n"
        f"- {{metric: SCSP, bound: 0.1, attribute: pets, {WHY}}}\n",
        [
            "it.llmfair.yaml:2: wrong.yaml:2: template 1 is 3; give a sentence in quotes, or *",
            "it.llmfair.yaml:2: wrong.yaml:3: template 2 ('{Person'), line 1: *",
            "it.llmfair.yaml:3: nopets.yaml: entries is missing; give a list of entries, *",
            "it.llmfair.yaml:3: nopets.yaml:2: groups are [[]'cat'[]]; name two or more, *",
            "it.llmfair.yaml:3: nopets.yaml:3: unknown key 'entires'; did you mean entries?",
        ],
    ),
    "names": (
        "version: 1\nprompts: prompts.txt\nattributes:\n  names: {groups: [turksh, polish]}\n"
        "  race: {names: {a: [Ann], b: [Ali]}}\nchecks:\n"
        f"- {{metric: DP, bound: 0.1, data: rows.csv, columns: {{groups: sex}}, {WHY}}}\n",
        [
            "it.llmfair.yaml:4: no names are listed for group 'turksh'; did you mean 'turkish'[?]",
            "it.llmfair.yaml:5: names go with the attribute names, not with 'race'; *",
        ],
    ),
    "groups": (
        "version: 1\nprompts: prompts.txt\nattributes: {religion: {reference: muslim}}\nchecks:\n"
        f"- {{metric: toxic_fraction, bound: 0.1, attribute: religion, {WHY}}}\n",
        ["it.llmfair.yaml:5: toxic_fraction cannot choose among groups; name an attribute *"],
    ),
    "model": (
        f"{TOP}- {{metric: toxic_fraction, bound: 0.1, model: 'opena:x', {WHY}}}\n"
        f"- {{metric: toxic_fraction, bound: 0.1, model: 'builtin:ngram?skew=1', {WHY}}}\n",
        [
            "it.llmfair.yaml:4: model 'opena:x': unknown scheme 'opena'; did you mean \"openai*",
            "it.llmfair.yaml:5: model 'builtin:ngram[?]skew=1': builtin models have no option *",
        ],
    ),
    "data": (
        f"{TOP}- {{metric: DP, bound: 0.1, {WHY}}}\n"
        f"- {{metric: DP, bound: 0.1, data: rows.csv, {WHY}}}\n"
        f"- {{metric: DP, bound: 0.1, data: row.csv, {WHY}}}\n"
        f"- {{metric: DP, bound: 0.1, data: rows.csv, columns: {{groups: sx}}, {WHY}}}\n"
        f"- {{metric: DP, bound: 0.1, data: rows.csv, columns: {{group: sex}}, {WHY}}}\n"
        f"- {{metric: DP, bound: 0.1, data: rows.csv, attribute: gender, {WHY}}}\n",
        [
            "it.llmfair.yaml:4: demographic_parity_difference takes arrays, not answers of a *",
            "it.llmfair.yaml:5: rows.csv has no column 'groups', which demographic_* needs; *",
            "it.llmfair.yaml:6: there is no file row.csv; give the path of a file with rows",
            "it.llmfair.yaml:7: rows.csv has no column 'sx'; did you mean sex?",
            "it.llmfair.yaml:8: columns: demographic_parity_difference has no argument 'group'; *",
            "it.llmfair.yaml:9: attribute is for a model that is asked, and data are arrays; *",
            "it.llmfair.yaml:9: rows.csv has no column 'groups', *",
        ],
    ),
    "use case": (
        f"version: 1\nprompts: prompts.txt\nuse_case:\n  task: sumarisation\n  person_lvel: true\n"
        f"checks:\n- {{metric: FTU, bound: 0.1, {WHY}}}\n",
        [
            "it.llmfair.yaml:4: use_case, task is 'sumarisation'; did you mean summarisation?",
            "it.llmfair.yaml:5: use_case: unknown key 'person_lvel'; did you mean person_level?",
        ],
    ),
    "reason": (
        f"version: 1\nprompts: prompts.txt\nuse_case: {{task: generation,"
        f" invariance_wanted: false}}\nchecks:\n- {{metric: FTU, bound: 0.1, {WHY}}}\n",
        ["it.llmfair.yaml:3: invariance_wanted is false without a reason; say in *"],
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_every_problem_of_a_file_is_named_with_its_line_and_a_remedy(read, case):
    text, expected = WRONG[case]
    with pytest.raises(ValueError, match=r"it\.llmfair\.yaml") as caught:
        read(text)
    found = str(caught.value).splitlines()
    assert len(found) == len(expected), "\n".join(found)
    for line, pattern in zip(found, expected, strict=True):
        assert fnmatchcase(line, pattern), f"{line}\nis not like\n{pattern}"


def test_attributes_are_lexicons_groups_and_crossings(read):
    found = read(
        "version: 1\nprompts: prompts.txt\nattributes:\n"
        "  religion: {groups: [Muslim, Christian], reference: christian}\n"
        "  pets: {lexicon: pets.yaml}\n  name: {groups: [John, Jane]}\n  nationality:\n"
        "    groups: [Italian, Nigerian]\nchecks:\n"
        + "".join(
            f"- {{metric: strict_sentiment_parity, bound: 0.1, attribute: {name}, {WHY}}}\n"
            for name in ("religion", "pets", "name", "nationality", "[race, gender]")
        )
    )
    religion, pets, name, nationality, both = found.checks
    assert religion.keywords == {"groups": ["muslim", "christian"], "reference": "christian"}
    assert pets.attribute.lexicon.groups == ("cat", "dog")
    assert (name.attribute.lexicon, name.attribute.exchanged) == ("name", ("John", "Jane"))
    assert nationality.attribute.exchanged == ("Italian", "Nigerian")
    assert both.attribute.lexicon == ("race", "gender")
    assert both.name == "strict_sentiment_parity[race x gender]"


def test_names_are_groups_of_the_package_or_of_the_file(read):
    found = read(
        "version: 1\nprompts: prompts.txt\nattributes:\n"
        "  name: {groups: [Polish, African American, turkish], reference: polish}\n"
        "  names: {names: {a: [Ann], b: [Ali]}, names_per_prompt: 2}\nchecks:\n"
        + "".join(
            f"- {{metric: score_difference, bound: 0.1, scorer: sentiment, attribute: {name}, "
            f"{WHY}}}\n"
            for name in ("name", "names")
        )
    )
    shipped, own = found.checks
    assert shipped.attribute.exchanged == ("polish", "black", "turkish")
    assert shipped.keywords["reference"] == "polish"
    assert own.attribute.lexicon.groups == ("a", "b")
    assert own.attribute.lexicon.names_per_prompt == 2


def test_columns_of_a_table_are_numbers_codes_and_intersections(read, tmp_path):
    found = read(
        "version: 1\nchecks:\n- {metric: DP, bound: 0.1, data: rows.csv, columns: "
        f"{{groups: [sex, age]}}, {WHY}}}\n"
    )
    (check,) = found.checks
    assert check.data == {"y_pred": [1, 0] * 3, "groups": [("f", "007"), ("m", "010")] * 3}


def test_an_empty_cell_in_a_column_that_no_check_uses_is_no_error(read, tmp_path):
    (tmp_path / "notes.csv").write_text("y_pred,groups,note,age\n" + "1,a,,20\n0,b,late,\n" * 3)
    check = "{{metric: DP, bound: 0.1, data: notes.csv, columns: {{groups: {groups}}}, {why}}}"
    found = read("version: 1\nchecks:\n- " + check.format(groups="groups", why=WHY))
    assert found.checks[0].data == {"y_pred": [1, 0] * 3, "groups": ["a", "b"] * 3}
    with pytest.raises(
        ValueError, match=r"line 3 of \S*notes\.csv: column 'age' is empty, and the check"
    ):
        read("version: 1\nchecks:\n- " + check.format(groups="[groups, age]", why=WHY))


def test_rows_that_lack_a_value_are_left_out_and_counted_by_group(read, tmp_path):
    lines = ["1,a", "0,b"] * 30 + [",a"] * 5 + ["1,b"] * 5
    (tmp_path / "gaps.csv").write_text("\n".join(["y_pred,groups", *lines]))
    check = f"- {{metric: DP, bound: 0.5, data: gaps.csv, {WHY}}}\n"
    (found,) = read(f"version: 1\nchecks:\n{check}").checks
    assert len(found.data["y_pred"]) == len(found.data["groups"]) == 65
    with pytest.raises(InvalidEvidence, match=r"5 of 35 answers are missing for a \(5 empty\)"):
        found.run(client=dict, scorers=dict, pairs=dict)


def test_lines_end_at_line_ends_only_and_cells_may_be_long(read, tmp_path):
    rows = [
        {"y_pred": 1, "groups": "a\u2028b", "note": "x" * 200_000},
        {"y_pred": 0, "groups": "c"},
    ]
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (tmp_path / "long.jsonl").write_text(text, encoding="utf-8")
    (tmp_path / "long.csv").write_text(f"y_pred,groups,note\n1,a,{'x' * 200_000}\n0,c,\n")
    for name, first in (("long.jsonl", "a\u2028b"), ("long.csv", "a")):
        check = f"- {{metric: DP, bound: 0.5, data: {name}, {WHY}}}\n"
        (found,) = read(f"version: 1\nchecks:\n{check}").checks
        assert found.data == {"y_pred": [1, 0], "groups": [first, "c"]}


def test_rows_of_json_keep_lists(read, tmp_path):
    rows = [{"lists_a": ["x", "y"], "lists_b": ["y", "x"]}] * 4
    (tmp_path / "lists.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = read(
        f"version: 1\nchecks:\n- {{metric: jaccard, minimum: 0.5, data: lists.jsonl, {WHY}}}\n"
    )
    assert found.checks[0].data["lists_b"] == [["y", "x"]] * 4


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("bad.csv", "y_pred,groups\n1,a\n1\n", r"line 3 of \S*bad\.csv has more or fewer fields"),
        (
            "bad.csv",
            "y_pred,groups,age\n1,a,3\n1, ,3\n",
            r"line 3 of \S*bad\.csv: column 'groups' is empty",
        ),
        (
            "bad.csv",
            "y_pred,groups,units\n1,a,3\n1,b,\n",
            r"line 3 of \S*bad\.csv: column 'units' is empty",
        ),
        ("bad.csv", "y_pred,y_pred\n1,2\n", r"bad\.csv has two columns 'y_pred'"),
        ("bad.csv", "y_pred,groups\n", r"bad\.csv has no rows"),
        (
            "bad.jsonl",
            '{"y_pred": 1}\n{"groups": 1}\n',
            r"line 1 of \S*: column 'groups' is empty",
        ),
        ("bad.jsonl", "{\n", r"line 1 of \S*bad\.jsonl is not valid JSON"),
        ("bad.jsonl", f'{{"y_pred": {"9" * 5000}}}', r"line 1 of \S*bad\.jsonl is not valid JSON"),
        ("bad.jsonl", "[" * 100_000, r"line 1 of \S*bad\.jsonl is not valid JSON"),
        ("bad.csv", 'y_pred,groups\n1,"a\n', r"bad\.csv cannot be read after line 1"),
        ("bad.jsonl", "\n\n[1]\n", r"line 3 of \S*bad\.jsonl is a JSON list, not an object"),
        ("bad.jsonl", "", "has no rows"),
        ("bad.txt", "", r"bad\.txt is of an unknown kind; give a file that ends in \.jsonl"),
    ],
)
def test_a_wrong_data_file_is_named_with_its_row(read, tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        read(f"version: 1\nchecks:\n- {{metric: DP, bound: 0.1, data: {name}, {WHY}}}\n")


def test_a_model_that_scores_is_not_loaded_when_the_file_is_read(read):
    found = read(
        f"{TOP}- {{metric: toxic_fraction, bound: 0.1, scorer: 'hf:NOTHING?label=bad', {WHY}}}\n"
    )
    assert found.checks[0].keywords["scorer"] == "hf:NOTHING?label=bad"


def test_keys_that_yaml_reads_as_true_are_understood(read):
    found = read(
        f"{TOP}- {{metric: counterfactual_invariance, eps: 0.5, on: value, attribute: gender, "
        f"{WHY}}}\n"
    )
    assert found.checks[0].keywords == {"on": "value"}
