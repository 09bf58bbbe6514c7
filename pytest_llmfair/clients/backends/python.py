"""Any Python callable as a model, sync or async, and LangChain runnables."""

from __future__ import annotations

import functools
import importlib
import inspect
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from pytest_llmfair._util.background import awaited, in_background
from pytest_llmfair.clients.backends.chat import Chat, Talk
from pytest_llmfair.clients.errors import (
    of_text,
    one_line,
    redactor,
    with_tool_calls,
    without_keys,
)
from pytest_llmfair.clients.identity import code_revision, file_of, module_files
from pytest_llmfair.clients.protocol import (
    DEFAULT_LIMITS,
    LOCAL_MAX_TOKENS,
    Attempt,
    Limits,
    Reply,
    Request,
)
from pytest_llmfair.clients.spec import (
    Classifies,
    Labels,
    ModelSpec,
    ModelSpecError,
    name_of,
    suggestion,
)
from pytest_llmfair.replies import checked_facts, facts_of
from pytest_llmfair.responses import Answer, Missing
from pytest_llmfair.session import current_session

T = TypeVar("T")

_PACKAGE = Path(__file__).parents[2]
_KEYWORDS = ("seed", "temperature", "max_tokens")


@dataclass(frozen=True, slots=True)
class _Callable:
    """A function of one prompt that returns its answer."""

    function: Callable[..., Any]
    name: str
    # Those of `seed`, `temperature` and `max_tokens` that the function takes.
    keywords: tuple[str, ...]
    # The object that the user gave: the function, or what it was made from.
    source: object = field(repr=False)
    # Digest of its code when it was loaded; empty where the code is in no file.
    revision: str = ""
    # How it is asked where it takes messages, and the options that say so.
    chat: Chat | None = None
    options: Mapping[str, str] = field(default_factory=dict, hash=False)

    @classmethod
    def of(
        cls,
        function: object,
        name: str | None = None,
        files: str = "",
        module: str = "",
        options: Mapping[str, str] | None = None,
    ) -> PythonCallable | AsyncCallable:
        """Wrap a callable, or an object with `invoke` as LangChain has them."""
        if name is None:
            if isinstance(function, str):
                raise ModelSpecError(
                    f"the model is the text {function!r}; give load_client({function!r}) of "
                    "pytest_llmfair.clients, or a function that takes a prompt"
                )
            module = getattr(function, "__module__", type(function).__module__)
            name = f"python:{module}:{getattr(function, '__qualname__', type(function).__name__)}"
        source, function = function, _adapted(function)
        if not callable(function):
            raise ModelSpecError(
                f"model {name!r} is not callable but {type(function).__name__}; "
                "name a function that takes a prompt and returns the answer"
            )
        code = module_files(module) if module else file_of(source)
        revision = code_revision(code, files)
        keywords = _accepted(function, name)
        options = {key: value for key, value in (options or {}).items() if value}
        chat = _chat_of(function, name, options)
        kind: type[PythonCallable | AsyncCallable] = PythonCallable
        if _is_async(function):
            kind = AsyncCallable
        return kind(function, name, keywords, source, revision, chat, options)

    @property
    def description(self) -> str:
        """What the model is, in one sentence."""
        return f"Python callable {self.name.removeprefix('python:')}"

    @property
    def identity(self) -> Mapping[str, str]:
        """Name and, where it is known, revision of the code."""
        scheme, _, target = self.name.partition("?")[0].partition(":")
        found = {"model": self.name}
        if scheme == "python":
            found = {"provider": scheme, "model": target}
        return {**found, **self.options} | ({"revision": self.revision} if self.revision else {})

    @property
    def takes_turns(self) -> bool:
        """Whether a prompt may be a conversation."""
        return self.chat is not None

    def call(
        self, asked: Any, request: Request, temperature: float, max_tokens: int
    ) -> Callable[[], Any]:
        """Return the call that answers a prompt, or the messages so far."""
        given = {"seed": request.seed, "temperature": temperature, "max_tokens": max_tokens}
        chosen = {name: given[name] for name in self.keywords}
        return functools.partial(self.function, asked, **chosen)


@dataclass(frozen=True, slots=True)
class PythonCallable(_Callable):
    """A function that is called in the caller's thread."""

    # Each answer is kept as it comes, since the call may have cost money.
    batch_size: ClassVar[int] = 1
    classifies: ClassVar[Classifies] = "either"

    def generate(
        self, requests: Sequence[Request], *, temperature: float, max_tokens: int
    ) -> list[Answer]:
        """Call the function once per request."""
        return [self.reply_to(request, temperature, max_tokens).answer for request in requests]

    def probabilities(self, prompts: Sequence[str], words: Sequence[str]) -> list[list[float]]:
        """Return the probability of each word, where the function returns a mapping of classes."""
        return [self._classes(prompt, words) for prompt in prompts]

    def _classes(self, prompt: str, words: Sequence[str]) -> list[float]:
        name = f"model {self.name!r}"
        try:
            asked = Talk(self.chat, prompt).next()
            row = self.call(asked, Request(prompt, 0), 1.0, LOCAL_MAX_TOKENS)()
        except Exception as error:
            raise ValueError(f"{name} failed at {prompt[:80]!r}: {_words(error)}") from error
        if not isinstance(row, Mapping):
            raise ValueError(
                f"{self.name} returns texts only, no probabilities; use builtin:ngram, an hf: "
                "model or a server that offers logprobs, sample with generate() and count, or "
                "return a mapping of classes to probabilities"
            )
        found: list[Any] = Labels().read(row, words, name, "return a mapping with these classes")
        for word, value in zip(words, found, strict=True):
            if not isinstance(value, Real) or not 0.0 <= float(value) <= 1.0:
                raise ValueError(
                    f"{name} gives {word!r} the probability {value!r} at {prompt[:80]!r}; return "
                    "numbers from 0 to 1"
                )
        return [float(value) for value in found]

    def reply_to(self, request: Request, temperature: float, max_tokens: int) -> Reply:
        """Call the function, once for every turn."""
        talk = Talk(self.chat, request.prompt)
        try:
            while (asked := talk.next()) is not None:
                answer = self.call(asked, request, temperature, max_tokens)()
                if inspect.isawaitable(answer):
                    answer = in_background(awaited(answer))
                talk.take(_checked(answer))
        except Exception as error:  # noqa: BLE001 - one failed answer must not lose the others
            return Reply(Missing("error", _words(error)), raised=True)
        return Reply(talk.judged, attempts=talk.calls)


@dataclass(frozen=True, slots=True)
class AsyncCallable(_Callable):
    """An async function, with up to 16 calls at a time on the background loop."""

    limits: Limits = DEFAULT_LIMITS

    def open(self) -> None:
        """Do nothing: a function needs no connection."""

    async def send(
        self, request: Request, *, temperature: float, max_tokens: int | None
    ) -> Attempt:
        """Call the function for every turn; an exception is a missing answer, not retried."""
        talk, limit = Talk(self.chat, request.prompt), max_tokens or LOCAL_MAX_TOKENS
        try:
            while (asked := talk.next()) is not None:
                call = self.call(asked, request, temperature, limit)
                talk.take(_checked(await call()))
            return Attempt(Reply(talk.judged))
        except Exception as error:  # noqa: BLE001 - one failed answer must not lose the others
            return Attempt(Reply(Missing("error", _words(error)), raised=True))


def load(spec: ModelSpec) -> PythonCallable | AsyncCallable:
    """Load ``python:package.module:callable``."""
    spec.choice("messages", ("yes", "no"))
    spec.choice("answers", ("last", "all"))
    options = {key: spec.options.get(key, "") for key in ("messages", "answers")}
    options["system"] = spec.system
    path, colon, attribute = spec.target.partition(":")
    # The code of the model is the module and `files`.
    files, model = spec.options.get("files", ""), f"model 'python:{spec.target}'"
    if not colon or not path or not attribute:
        raise ModelSpecError(
            f"{model} does not name a callable; write python:package.module:callable"
        )
    try:
        found: object = importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{path}.".startswith(f"{error.name}."):
            raise ModelSpecError(
                f"{model}: importing {path!r} needs {error.name!r}, which is not installed"
            ) from error
        raise ModelSpecError(
            f"{model}: there is no module {error.name!r}; install it, or add its folder "
            "to `pythonpath` in the pytest configuration"
        ) from error
    except Exception as error:  # a user's module can fail in any way
        raise ModelSpecError(f"{model}: importing {path!r} failed with {_words(error)}") from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            near = suggestion(part, (name for name in dir(found) if not name.startswith("_")))
            raise ModelSpecError(f"{model}: {path!r} has no {attribute!r}{near}")
        found = getattr(found, part)
    return PythonCallable.of(found, name_of(spec), files, path, options)


def _adapted(model: object) -> object:
    """Return a callable for an object with `ainvoke`, such as a LangChain chain; others as is."""
    ask: Callable[[str], Any] | None = getattr(model, "ainvoke", None)
    if ask is None:
        return model

    async def answer(prompt: str) -> Answer:
        answered = await ask(prompt)
        metadata = getattr(answered, "response_metadata", None) or {}
        if "content_filter" in (metadata.get("finish_reason"), metadata.get("stop_reason")):
            return Missing("filtered", "the server filtered the answer")
        # The user set the limit where the runnable was made, so no answer is cut by accident.
        text = of_text(getattr(answered, "content", answered), cut=False, limit=None).answer
        calls = getattr(answered, "tool_calls", None)
        return text if calls is None else with_tool_calls(text, calls)

    return answer


def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):  # some built-in callables have none
        return None


def _accepted(function: Callable[..., Any], name: str) -> tuple[str, ...]:
    if (signature := _signature(function)) is None:
        return ()
    parameters = list(signature.parameters.values())
    takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters)
    by_keyword = {
        p.name for p in parameters[1:] if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    }
    keywords = tuple(word for word in _KEYWORDS if takes_all or word in by_keyword)
    try:
        signature.bind("prompt", **dict.fromkeys(keywords))
    except TypeError as error:
        raise ModelSpecError(
            f"model {name!r} cannot be called with one prompt ({error}); it may take the prompt "
            f"and the keywords {', '.join(_KEYWORDS)}, anything else needs a default"
        ) from None
    return keywords


def _chat_of(function: Callable[..., Any], name: str, options: Mapping[str, str]) -> Chat | None:
    """Return the settings of a function that takes messages; None for one that takes a prompt."""
    signature = _signature(function)
    first = "" if signature is None else next(iter(signature.parameters), "")
    chosen = options.get("messages")
    if chosen == "no" or (chosen is None and first != "messages"):
        if needing := [key for key in ("system", "answers") if key in options]:
            raise ModelSpecError(
                f"model {name!r} takes a prompt, and {needing[0]} is for one that takes messages; "
                "call its first parameter messages, or say messages=yes"
            )
        return None
    return Chat(options.get("system", ""), "all" if options.get("answers") == "all" else "last")


def _is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - an object with an async __call__
    )


def _checked(answer: object) -> Answer:
    if answer is None:
        return Missing("null", "the callable returned None")
    if hasattr(answer, "content") and hasattr(answer, "tool_calls"):  # a message of OpenAI's SDK
        text = of_text(answer.content, cut=False, limit=None).answer
        answer = with_tool_calls(text, answer.tool_calls)
    if isinstance(answer, str) and not answer.strip():
        answer = Missing("empty", "the callable returned no text", checked_facts(facts_of(answer)))
    if not isinstance(answer, (str, Missing)):
        return Missing("error", f"the callable returned {type(answer).__name__}, not str")
    # The function may ask a server that echoes the key.
    return without_keys(answer, redactor())


def _words(error: BaseException) -> str:
    """Return kind, message and place of an error, such as "OSError: no disk (mybot/bot.py:38)"."""
    words = one_line(f"{type(error).__name__}: {error}".rstrip(": "))
    place = _place(error)
    # Libraries put the key into their error messages.
    return redactor()(f"{words} ({place})" if place else words)


def _place(error: BaseException) -> str:
    """Return file and line in the user's code where an error was raised, or an empty text."""
    session = current_session()
    folders = [Path.cwd(), *([session.root] if session and session.root else [])]
    mine = elsewhere = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        path = Path.cwd() / frame.f_code.co_filename
        if path.is_relative_to(_PACKAGE) or not path.is_file():
            continue
        near = [path.relative_to(folder) for folder in folders if path.is_relative_to(folder)]
        if near and "site-packages" not in near[0].parts:
            mine = f"{near[0].as_posix()}:{line}"
        # Only the name: reports must not show the folders of this machine.
        elsewhere = elsewhere or f"{path.name}:{line}"
    return mine or elsewhere
