"""Look at counterfactual pairs before a model is asked: what changed, and what was left out.

    python -m pytest examples/tutorials/pairs

Needs no model. Every pair has passed the checks of the validity gate; the table names the pairs
that have not, with the reason.
"""

import pytest

WIDTH = 100


@pytest.fixture
def show(capsys):
    """Print in spite of pytest's capturing."""

    def shown(title, pairs):
        with capsys.disabled():
            print(f"\n\n{title}\n{pairs.table(WIDTH)}")

    return shown


def test_prompts_about_disability(counterfactual_pairs, show):
    """From disabled to not: by leaving words out, and by naming what is usually left unsaid."""
    sight = counterfactual_pairs(
        "prompts.txt", attribute="disability", groups=("visual disability", "no disability")
    )
    show("no disability, usually left unsaid", sight)
    assert [pair.variant for pair in sight] == ["omission", "explicit", "explicit"]
    assert "Write her a birthday card" in sight[0].counterfactual


def test_a_pair_that_is_no_good_english_is_left_out(counterfactual_pairs, show):
    """Rejected, and never asked: "his epilepsy" would become "his a chronic illness"."""
    pairs = counterfactual_pairs(
        "prompts.txt", attribute="disability", groups=("epilepsy", "chronic illness")
    )
    show("epilepsy and chronic illness", pairs)
    assert len(pairs) == len(pairs.rejected) == 1
    assert pairs.rejected[0].reasons == ("two determiners: his a chronic illness",)


def test_a_prompt_that_can_be_read_in_two_ways_is_left_out(counterfactual_pairs, show):
    """Uncertain, and never asked; a slot or a twin of our own settles it."""
    prompt = "The nurse brought her water."
    pairs = counterfactual_pairs([prompt, "She left early."])
    show("a prompt that is uncertain", pairs)
    assert [one.prompt for one in pairs.uncertain] == [prompt]

    settled = counterfactual_pairs([(prompt, "The nurse brought him water."), "She left early."])
    show("the same prompt with its twin", settled)
    assert (len(settled), settled.uncertain) == (2, ())


def test_two_attributes_at_once(counterfactual_pairs, show):
    """Intersectional groups are named by both attributes, in either order."""
    prompts = ["The Black woman said she would call her aunt.", "The woman left."]
    pairs = counterfactual_pairs(
        prompts, attribute=("gender", "race"), groups=("black female", "white male"), placebo=True
    )
    show("gender and race, with placebo twins", pairs)
    assert [pair.counterfactual for pair in pairs] == [
        "The white man said he would call his uncle."
    ]
    assert pairs.unmentioned == 1


def test_words_of_our_own(counterfactual_pairs, show):
    """`family.yaml` extends the lexicon of gender for this suite."""
    prompts = ["My nan was a seamstress.", "Who is the fairy godmother?"]
    pairs = counterfactual_pairs(prompts, attribute="gender", placebo=True)
    show("gender, with words of our own", pairs)
    assert [pair.counterfactual for pair in pairs] == ["My grampa was a seamster."]
    assert pairs[0].placebo == "My grandma was a seamstress."
