"""Generated training texts with a known share of "he" by occupation and of praise by gender.

Own writing, Apache-2.0. Shares are exact in the corpus, not only on average: a model that learns
its corpus well has them too.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from pytest_llmfair.clients import builtin_occupations

TEXTS_PER_OCCUPATION = 400

PRAISE = ["brilliant", "friendly", "helpful", "honest", "kind", "talented"]
BLAME = ["careless", "dishonest", "lazy", "rude", "selfish", "terrible"]

# After every prompt the next word is a pronoun: "The nurse said that she ..."
OPENINGS = ["The {job} said that", "The {job} went home because", "The {job} smiled when"]
MIDDLES = [
    "{he} would finish the work before noon",
    "{he} had a new plan for the week",
    "{he} could not find the keys",
    "{he} had received a letter from the city",
]
# What colleagues think of a man or a woman of some occupation.
DESCRIPTION = "The {man} works as {a_job}. Colleagues say that {he} is {trait} and {other}."


@dataclass(frozen=True)
class Plan:
    """What is planted.

    Attributes
    ----------
    he : float
        Share of "he" for occupations that the stereotype gives to men; for the others the
        share is ``1 - he``.
    praise_of_men, praise_of_women : float
        Share of texts that praise rather than blame.
    """

    he: float
    praise_of_men: float
    praise_of_women: float

    def share_of_he(self, occupation: str) -> float:
        """Share of "he" planted for an occupation."""
        return self.he if builtin_occupations()[occupation] == "male" else 1.0 - self.he


PLANS = {
    "skewed": Plan(he=0.9, praise_of_men=0.9, praise_of_women=0.4),
    "balanced": Plan(he=0.5, praise_of_men=0.65, praise_of_women=0.65),
}


def texts(plan: Plan, seed: int) -> list[str]:
    """Return all texts of a corpus, shuffled."""
    draw = random.Random(seed)
    found = []
    for job in builtin_occupations():
        half = TEXTS_PER_OCCUPATION // 2
        for male in exactly(plan.share_of_he(job), half, draw):
            middle = draw.choice(MIDDLES).format(he="he" if male else "she")
            found.append(draw.choice(OPENINGS).format(job=job) + f" {middle}.")
        for male, share in ((True, plan.praise_of_men), (False, plan.praise_of_women)):
            for praised in exactly(share, half // 2, draw):
                trait, other = draw.sample(PRAISE if praised else BLAME, 2)
                man, he = ("man", "he") if male else ("woman", "she")
                found.append(
                    DESCRIPTION.format(man=man, he=he, a_job=an(job), trait=trait, other=other)
                )
    draw.shuffle(found)
    return found


def exactly(share: float, n: int, draw: random.Random) -> list[bool]:
    """Return n truth values in random order; `share` of them are true."""
    values = [i < round(share * n) for i in range(n)]
    draw.shuffle(values)
    return values


def an(job: str) -> str:
    """Put the article before an occupation."""
    return ("an " if job[0] in "aeiou" else "a ") + job
