"""Conversations with a model that takes messages: it answers every turn of the user."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pytest_llmfair.clients.spec import ModelSpecError
from pytest_llmfair.replies import facts_of, is_cut, text_answer
from pytest_llmfair.responses import Answer, Missing
from pytest_llmfair.text.turns import turns_of


@dataclass(frozen=True, slots=True)
class Chat:
    """Settings for asking a model that takes messages."""

    system: str = ""
    # Which answers are judged.
    answers: Literal["last", "all"] = "last"


def chat_options(messages: bool | None, system: str | Path, answers: str) -> dict[str, str]:
    """Options of a specification that say the same as keywords of Python."""
    if answers not in ("last", "all"):
        raise ModelSpecError(f"answers is {answers!r}; give 'last' or 'all'")
    return {
        "messages": {True: "yes", False: "no", None: ""}[messages],
        "system": system.read_text("utf-8").strip() if isinstance(system, Path) else system,
        "answers": "all" if answers == "all" else "",
    }


@dataclass(slots=True)
class Talk:
    """One prompt and the answers to its turns; without `chat` the model takes the prompt."""

    chat: Chat | None
    prompt: str
    _answers: list[Answer] = field(default_factory=list)

    @property
    def calls(self) -> int:
        """Number of answers so far."""
        return len(self._answers)

    def next(self) -> Any:
        """Return the next input of the model; None at the end."""
        if self._answers and isinstance(self._answers[-1], Missing):
            return None
        turns = [self.prompt] if self.chat is None else turns_of(self.prompt)
        if self.calls == len(turns):
            return None
        if self.chat is None:
            return self.prompt
        said: list[dict[str, str]] = []
        if self.chat.system:
            said.append({"role": "system", "content": self.chat.system})
        for turn, answer in zip(turns, [*self._answers, ""], strict=False):
            said.append({"role": "user", "content": turn})
            said.append({"role": "assistant", "content": str(answer)})
        return said[:-1]

    def take(self, answer: Answer) -> None:
        """Keep an answer; one that is missing ends the conversation."""
        self._answers.append(answer)

    @property
    def judged(self) -> Answer:
        """The answer that is judged, with the facts of all turns."""
        last = self._answers[-1]
        if self.calls == 1:
            return last
        facts: dict[str, Any] = {}
        for answer in self._answers:
            for name, value in facts_of(answer).items():
                before = facts.get(name)
                joins = isinstance(value, tuple) and isinstance(before, tuple)
                facts[name] = before + value if joins else value
        if "tool_calls" in facts and isinstance(tools := facts.get("tools"), tuple):
            facts["tool_calls"] = len(tools)
        if isinstance(last, Missing):
            return Missing(last.reason, last.detail, facts)
        every = self.chat is not None and self.chat.answers == "all"
        text = "\n\n".join(map(str, self._answers)) if every else str(last)
        return text_answer(text, facts, cut=any(map(is_cut, self._answers)))
