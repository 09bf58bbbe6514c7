"""Formula of the share of prompts that name a group, written out slowly."""

from __future__ import annotations

from pytest_llmfair.testing import Case

NAMING = ["She reads.", "Ask the woman.", "HE said so.", "Call my sister or her brother."]
UNAWARE = ["It rains.", "Sheep graze here.", "They sing.", "The herring is here.", "Ash is grey."]
WORDS = ("she", "woman", "he", "sister", "her", "brother")


def draw_prompts(rng):
    prompts = rng.choice([*NAMING, *UNAWARE], int(rng.integers(1, 9))).tolist()
    return {"prompts": prompts, "attribute": [["gender"], "gender"][int(rng.integers(2))]}


def unaware(rng):
    return {"prompts": rng.choice(UNAWARE, 4).tolist(), "attribute": "gender"}


def share(prompts, attribute):
    named = 0
    for prompt in prompts:
        words = prompt.lower().rstrip(".").split(" ")
        for word in WORDS:
            if word in words:
                named += 1
                break
    return named / len(prompts)


CASES = {
    "fairness_through_unawareness": Case(
        draw=draw_prompts, expected=share, rows=("prompts",), numbers=("prompts",), fair=unaware
    )
}
