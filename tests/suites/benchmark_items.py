"""Invented items in the formats of published data sets; nothing is copied from them."""

from __future__ import annotations

import csv
import json
from itertools import product
from pathlib import Path

UNKNOWN = ("Not known", "Can't be determined", "Not enough info", "Cannot answer")
PAIRS = {
    "Age": [("old", "The grandmother"), ("nonOld", "The granddaughter")],
    "Religion": [("Lunar", "The Lunar baker"), ("Solar", "The Solar baker")],
}


def bbq_lines(categories=("Age", "Religion"), templates=5):
    """Return questions of every polarity, context and order of answers, like those of BBQ."""
    rows = []
    for category, number in product(categories, range(1, templates + 1)):
        pair = PAIRS[category]
        for polarity, condition, turn in product(
            ("neg", "nonneg"), ("ambig", "disambig"), range(3)
        ):
            answers = [*pair, ("unknown", UNKNOWN[(number + turn) % len(UNKNOWN)])]
            answers = answers[turn:] + answers[:turn]
            wanted = pair[0 if polarity == "neg" else 1][0]
            # The facts follow the stereotype in every other template.
            if number % 2:
                wanted = pair[1 if polarity == "neg" else 0][0]
            right = "unknown" if condition == "ambig" else wanted
            facts = "" if condition == "ambig" else f" One of them did it: {wanted}."
            rows.append(
                {
                    "example_id": len(rows),
                    "question_index": str(number),
                    "question_polarity": polarity,
                    "context_condition": condition,
                    "category": category,
                    "answer_info": {
                        f"ans{i}": [text, tag] for i, (tag, text) in enumerate(answers)
                    },
                    "additional_metadata": {"stereotyped_groups": [pair[0][0]], "version": "a"},
                    "context": f"Two people met in {category} hall {number}, order {turn}.{facts}",
                    "question": f"Who did the {polarity} thing {number}?",
                    **{f"ans{i}": text for i, (_, text) in enumerate(answers)},
                    "label": [tag for tag, _ in answers].index(right),
                }
            )
    return rows


def write_lines(path: Path, rows) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_csv(path: Path, rows) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


KINDS = ("colour", "weather", "garden")


def crows_rows(pairs=12):
    """Return pairs of sentences in the columns of CrowS-Pairs; three writers wrote four each."""
    return [
        {
            "": number,
            "sent_more": f"Gardeners of hall {number} never finish, they say.",
            "sent_less": f"Bakers of hall {number} never finish, they say.",
            "stereo_antistereo": "stereo" if number % 3 else "antistereo",
            "bias_type": KINDS[number % len(KINDS)],
            "annotations": "[]",
            "anon_writer": f"a{number // 4}",
            "anon_annotators": "[]",
        }
        for number in range(pairs)
    ]


# How the sentences of StereoSet begin to differ.
SAID = {"anti-stereotype": "quiet", "unrelated": "purple", "stereotype": "loud"}


def stereoset(terms=6):
    """Return items in the form of dev.json; some terms have more items than others."""

    def item(term, number, part):
        domain = KINDS[term % 2]
        labels = tuple(SAID)
        turn = (term + number) % 3
        sentences = [
            {
                "id": f"{part}{term}{number}{label}",
                "sentence": f"Term {term} is {SAID[label]} {number} {part}.",
            }
            | {"gold_label": label, "labels": []}
            for label in labels[turn:] + labels[:turn]
        ]
        context = f"Term {term} is BLANK." if part == "intrasentence" else f"We met term {term}."
        return {
            "id": f"{part}{term}{number}",
            "target": f"term {term}",
            "bias_type": domain,
            "context": context,
            "sentences": sentences,
        }

    return {
        "version": "1.1",
        "data": {
            part: [item(term, n, part) for term in range(terms) for n in range(1 + term % 3)]
            for part in ("intrasentence", "intersentence")
        },
    }


# Stereotypically male first.
PEOPLE = [("miller", "weaver"), ("smith", "potter"), ("ranger", "singer"), ("pilot", "florist")]


def winobias_files(folder: Path) -> Path:
    """Write pairs of files as those of WinoBias: numbered, with square brackets."""
    for kind, rest in (("type1", "{0} asked."), ("type2", "we heard {1} sing.")):
        sides = {"pro": [], "anti": []}
        for male, female in PEOPLE:
            for right, place in ((male, 0), (female, 1)):
                people = [f"The {male}", f"the {female}"]
                people[place] = f"[{people[place]}]"
                for side, lines in sides.items():
                    he = (right == male) == (side == "pro")
                    words = ("[he]", "[him]") if he else ("[she]", "[her]")
                    end = rest.format(*words)
                    lines.append(f"{len(lines) + 1} {people[0]} met {people[1]} when {end}")
        for side, lines in sides.items():
            name = f"{side}_stereotyped_{kind}.txt.test"
            (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def decisions(questions=8):
    """Return people in the form of Discrim-Eval: every age, gender and race for each question."""
    return [
        {
            "filled_template": f"A {age}-year-old {race} {gender} asks at desk {number}. Agree?",
            "decision_question_id": number,
            "age": float(age),
            "gender": gender,
            "race": race,
            "fill_type": "explicit",
        }
        for number, age, gender, race in product(
            range(questions), (20, 60, 90), ("male", "female"), ("white", "Black", "Asian")
        )
    ]
