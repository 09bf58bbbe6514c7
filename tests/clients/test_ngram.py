from __future__ import annotations

import itertools
import math
import re
from collections import Counter

import pytest

from pytest_llmfair.clients import builtin_occupations, load_client
from pytest_llmfair.clients.backends.ngram.model import END, ORDER, Ngram, load_counts
from pytest_llmfair.clients.backends.ngram.words import CORPUS, WORD, Dials, Person, load_words
from pytest_llmfair.counterfactuals import generate_pairs, load_lexicons

SAID = "The {} said that"
SWAP = {"he": "she", "him": "her", "his": "her", "himself": "herself", "man": "woman"}
NEUTRAL = {word: male for male, female in SWAP.items() for word in (male, female)} | {
    "his": "him",
    "her": "him",
}


def masked(text):
    return " ".join(NEUTRAL.get(word.lower(), word.lower()) for word in WORD.findall(text))


def share_of_he(client, prompts):
    rows = client.next_token_probabilities(prompts, ["he", "she"])
    return [row["he"] / (row["he"] + row["she"]) for row in rows]


def within_four_sigma(count, n, p):
    return abs(count - n * p) <= 4 * math.sqrt(n * p * (1 - p)) + 1


def slow_distribution(history):
    """Jelinek-Mercer interpolation straight from the expanded texts of the corpus."""
    counted = [Counter() for _ in range(ORDER)]
    for path in CORPUS.glob("*.txt"):
        for line in path.read_text(encoding="utf-8").splitlines():
            if not line or line.startswith("#"):
                continue
            parts = [p.split("|") for p in re.split(r"[\[\]]", line)]
            versions = ["".join(choice) for choice in itertools.product(*parts)]
            for version in versions:
                words = re.findall(r"\{[^}]+\}|\w+(?:-\w+)*|['’]\w+|[^\w\s]", version)
                words = [w.lower() for w in words]
                kept = ["<s>"] * 3 + ["{his}" if w == "{him}" else w for w in words]
                for i, word in enumerate([*words, END]):
                    for length in range(ORDER):
                        if tuple(kept[i + 3 - length : i + 3]) == history[len(history) - length :]:
                            counted[length][word] += 1 / len(versions)
    found = {}
    for length, counts in enumerate(counted):
        if not counts:
            break
        total = sum(counts.values())
        keep = 0.1 if length else 0.0
        found = {
            w: keep * found.get(w, 0.0) + (1 - keep) * counts[w] / total for w in {*found, *counts}
        }
    return found


@pytest.mark.parametrize(
    "history", [("{occupation}", "said", "that"), ("<s>", "<s>", "<s>"), ("zebra", "the", "team")]
)
def test_counts_agree_with_a_slow_count_of_the_corpus(history):
    counts = load_counts()
    fast = dict(zip(counts.tokens, counts.distribution(history), strict=True))
    slow = slow_distribution(history)
    assert sum(fast.values()) == pytest.approx(1.0)
    assert {w: p for w, p in fast.items() if p} == pytest.approx(slow)


@pytest.mark.parametrize("skew", [-1.0, -0.4, 0.0, 0.8, 1.0])
def test_gender_skew_sets_the_exact_share_of_he(skew):
    client = load_client(f"builtin:ngram?gender_skew={skew}")
    jobs = builtin_occupations()
    shares = share_of_he(client, [SAID.format(job) for job in jobs])
    wanted = [(1 + skew) / 2 if jobs[job] == "male" else (1 - skew) / 2 for job in jobs]
    assert shares == pytest.approx(wanted)


def test_samples_follow_the_exact_share_of_he():
    client = load_client("builtin:ngram?gender_skew=0.6")
    answers = client.generate(["The nurse said that"], 2000)[0]
    first = [re.search(r"\b(he|his|him|she|her)\b", answer) for answer in answers]
    gendered = [found.group() for found in first if found]
    assert len(gendered) > 1900
    male = sum(word in ("he", "his", "him") for word in gendered)
    assert within_four_sigma(male, len(gendered), 0.2)


def test_occupations_of_a_known_gender_follow_from_bayes_rule():
    forms = load_words().forms("{occupation}", Person("female"), Dials(gender_skew=0.6))
    shares = {form.text: form.probability for form in forms}
    assert shares["nurse"] == pytest.approx(0.8 / 20)
    assert shares["engineer"] == pytest.approx(0.2 / 20)
    assert sum(shares.values()) == pytest.approx(1.0)


@pytest.mark.parametrize(("who", "sign"), [("Anna", -1), ("Adam", 1)])
def test_sentiment_skew_sets_the_share_of_favourable_words(who, sign):
    client = load_client("builtin:ngram?sentiment_skew=0.5")
    labels = client.label_probabilities([f"Should we hire {who}? Answer:"], ["Yes", "No"])[0]
    assert labels["Yes"] == pytest.approx(0.7 + sign * 0.3 * 0.5, abs=1e-4)


@pytest.mark.parametrize(
    ("prompt", "twin"),
    [
        ("He said that", "She said that"),
        ("The engineer told us that he", "The engineer told us that she"),
        ("Write a reference for Adam, a nurse.", "Write a reference for Anna, a nurse."),
        ("My brother gave his", "My sister gave her"),
        ("We asked him", "We asked her"),
    ],
)
def test_without_dials_twins_have_the_same_distribution_but_for_gendered_words(prompt, twin):
    client = load_client("builtin:ngram")
    words = [w for w in load_counts().tokens if w[0].isalpha()] + list(NEUTRAL)
    words = list(dict.fromkeys(words))
    one, other = client.next_token_probabilities([prompt, twin], words)
    for word in words:
        if word not in NEUTRAL:
            assert one[word] == pytest.approx(other[word], rel=1e-12), word
    assert sum(one[w] for w in NEUTRAL) == pytest.approx(sum(other[w] for w in NEUTRAL))


def test_greedy_answers_to_twins_are_equal_once_masked():
    client = load_client("builtin:ngram?temperature=0")
    for prompt, twin in [
        ("He works as a nurse.", "She works as a nurse."),
        ("His boss", "Her boss"),
    ]:
        (one, other) = client.generate([prompt, twin])
        assert masked(one[0]) == masked(other[0])


def test_greedy_ties_are_broken_by_the_prompt_and_not_always_for_one_gender():
    client = load_client("builtin:ngram?temperature=0")
    prompts = [f"The {job} went home because" for job in builtin_occupations()]
    first = [row[0].split()[0] for row in client.generate(prompts)]
    assert 8 <= first.count("he") <= 32


def test_temperature_sharpens_the_planted_share():
    client = load_client("builtin:ngram?gender_skew=0.5&temperature=0.5")
    answers = client.generate(["The engineer went home because"], 1500)[0]
    male = sum(bool(re.search(r"\b(he|his|him)\b", answer)) for answer in answers)
    assert within_four_sigma(male, 1500, 0.75**2 / (0.75**2 + 0.25**2))


def test_the_answer_speaks_of_the_person_and_the_occupation_of_the_prompt():
    client = load_client("builtin:ngram")
    answers = client.generate(["Write a reference for Anna, a nurse."], 200)[0]
    assert not any(re.search(r"\b(he|his|him|Adam|engineer)\b", answer) for answer in answers)
    assert sum("Anna" in answer for answer in answers) > 50
    assert sum("nurse" in answer for answer in answers) > 20


def test_a_name_that_the_model_does_not_know_is_still_a_name():
    client = load_client("builtin:ngram")
    known, strange = client.next_token_probabilities(
        ["Write a reference for Anna.", "Write a reference for Lakisha."], ["is", "I", "he", "she"]
    )
    assert known["I"] == pytest.approx(strange["I"])
    assert strange["he"] == pytest.approx(strange["she"])
    assert known["she"] == pytest.approx(strange["he"] + strange["she"])
    assert any("Lakisha" in a for a in client.generate(["Write a reference for Lakisha."], 40)[0])


def test_the_last_person_of_a_prompt_counts():
    client = load_client("builtin:ngram")
    prompts = ["Adam told Anna that", "She told Lakisha that", "Anna Smith said that"]
    assert share_of_he(client, prompts) == pytest.approx([0.0, 0.5, 0.0])


def test_first_words_have_probability_one_together():
    model = Ngram()
    counts, words = load_counts(), load_words()
    plain = [t for t in counts.tokens if t[0].isalnum()]
    formed = [
        form.text.split()[0]
        for token in counts.tokens
        if token[0] == "{"
        for form in words.forms(token, Person(), Dials())
    ]
    every = list(dict.fromkeys(map(str.lower, [*plain, *formed])))
    assert math.fsum(model.probabilities(["The nurse said that"], every)[0]) == pytest.approx(1.0)


def test_samples_follow_the_probability_of_several_words():
    client = load_client("builtin:ngram")
    prompt, words = "The nurse said that", ["he would", "she was", "he would be there before noon"]
    exact = client.next_token_probabilities([prompt], words)[0]
    answers = client.generate([prompt], 3000)[0]
    for word, p in exact.items():
        count = sum(answer.startswith(word) for answer in answers)
        assert within_four_sigma(count, 3000, p), word
    assert exact["he would"] > 0.05


def test_answers_end_and_stay_within_max_tokens():
    client = load_client("builtin:ngram?max_tokens=5")
    answers = client.generate(["Tell me a story about a nurse."], 100)[0]
    assert {len(WORD.findall(answer)) for answer in answers} <= {1, 2, 3, 4, 5}
    assert all(answer[0].isupper() for answer in answers)


@pytest.mark.parametrize("dial", ["gender_skew", "sentiment_skew"])
@pytest.mark.parametrize("value", [1.5, -2.0, math.nan])
def test_a_dial_outside_its_range_is_an_error(dial, value):
    with pytest.raises(ValueError, match=f"{dial} is .*from -1 to 1"):
        Ngram(**{dial: value})


def test_the_model_says_what_it_is():
    client = load_client("builtin:ngram?gender_skew=0.8")
    assert client.name == "builtin:ngram?gender_skew=0.8"
    assert "4-gram" in client.description
    assert "gender skew 0.8" in client.description


def test_no_line_of_the_corpus_says_which_gender_a_person_has():
    words = load_words()
    for path in CORPUS.glob("*.txt"):
        for line in path.read_text(encoding="utf-8").splitlines():
            if not line.startswith("#"):
                plain = WORD.findall(re.sub(r"\{[^}]+\}", " ", line.lower()))
                for size in (1, 2, 3):
                    for i in range(len(plain)):
                        assert tuple(plain[i : i + size]) not in words.surface, line


def test_words_with_a_capital_inside_a_sentence_are_listed():
    proper = set(load_words().proper.values())
    for path in CORPUS.glob("*.txt"):
        for line in path.read_text(encoding="utf-8").splitlines():
            if not line.startswith("#"):
                inside = re.findall(r"(?<=[a-z},|\[] )[A-Z]\w*|(?<=[|\[])[A-Z]\w*", line)
                assert set(inside) <= proper, line


def test_without_dials_no_gendered_word_of_the_lexicon_tells_twins_apart():
    terms = [
        term
        for entry in load_lexicons()["gender"].entries
        for group, of_group in entry.terms.items()
        if group in ("female", "male")
        for term in of_group[::8]
        if entry.register(term) != "outdated"  # "her's" is two words to the model
    ]
    prompts = [f"The {term} said that" for term in terms]
    prompts += [f"Write a story about a {term}." for term in terms]
    pairs = generate_pairs(prompts, attribute="gender", groups=("female", "male"))
    words = [t for t in load_counts().tokens if t[0].isalpha() and t not in NEUTRAL][::100]
    client = load_client("builtin:ngram")
    assert len(pairs) > 40
    ours = client.next_token_probabilities([pair.original for pair in pairs], words)
    twins = client.next_token_probabilities([pair.counterfactual for pair in pairs], words)
    for pair, one, other in zip(pairs, ours, twins, strict=True):
        assert one == pytest.approx(other, rel=1e-12), pair.original
