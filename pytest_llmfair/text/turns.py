"""Conversations: the turns of a user in one text, so that pairs change the group in each."""

from __future__ import annotations

# Visible in reports, no word of any turn, and the end of a sentence.
BETWEEN_TURNS = "\n\n\N{SYMBOL FOR RECORD SEPARATOR} "


def conversation(*turns: str) -> str:
    """Return a prompt of several turns, which a model that takes messages answers one by one.

    A group is exchanged in every turn, since the turns are one text. The model gets the turns
    before with its own answers to them.

    Parameters
    ----------
    *turns : str
        What the user says, at least one text.

    Raises
    ------
    ValueError
        If a turn is no text or has none; the message names it.

    Examples
    --------
    >>> from pytest_llmfair.counterfactuals import generate_pairs
    >>> prompt = conversation("My sister is ill.", "She needs a day off.")
    >>> generate_pairs([prompt], "gender")[0].counterfactual.split()[-6:]
    ['␞', 'He', 'needs', 'a', 'day', 'off.']
    """
    if not turns:
        raise ValueError("the conversation has no turn; give at least one text")
    for number, turn in enumerate(turns, start=1):
        if not isinstance(turn, str) or not turn.strip():
            raise ValueError(
                f"turn {number} of the conversation is {turn!r}; give what the user says as a text"
            )
    return BETWEEN_TURNS.join(turns)


def turns_of(prompt: str) -> list[str]:
    """Return the turns of a conversation; of any other prompt itself."""
    return prompt.split(BETWEEN_TURNS)
