"""Any Python callable as a model, sync or async."""

from __future__ import annotations

import asyncio
import functools
import importlib
import inspect
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pytest_llmfair.clients._backend import Request
from pytest_llmfair.clients._spec import ModelSpecError, suggestion
from pytest_llmfair.responses import Answer, Missing

T = TypeVar("T")

_KEYWORDS = ("seed", "temperature", "max_tokens")
_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class PythonCallable:
    """A function of one prompt that returns its answer.

    The prompt is the first positional argument; `seed`, `temperature` and `max_tokens` are passed
    as keywords where the signature has them. An exception, None or an empty text is one missing
    answer and loses no other; only KeyboardInterrupt and SystemExit end the collection. Up to 16
    calls of an async function wait at the same time, all on one event loop in the background.

    Parameters
    ----------
    function : callable
        ``str -> str``, or an async function of that kind.
    name : str
        What reports call the model.
    keywords : tuple of str
        Which of `seed`, `temperature` and `max_tokens` the function takes.
    """

    function: Callable[..., Any]
    name: str
    keywords: tuple[str, ...]

    @classmethod
    def of(cls, function: object, name: str | None = None) -> PythonCallable:
        """Wrap a callable.

        Raises
        ------
        ModelSpecError
            If it is not callable or takes no prompt.
        """
        if name is None:
            module = getattr(function, "__module__", type(function).__module__)
            name = f"python:{module}:{getattr(function, '__qualname__', type(function).__name__)}"
        if not callable(function):
            raise ModelSpecError(
                f"model {name!r} is not callable but {type(function).__name__}; "
                "name a function that takes a prompt and returns the answer"
            )
        return cls(function, name, _accepted(function, name))

    @property
    def description(self) -> str:
        """What the model is, in one sentence."""
        return f"Python callable {self.name.removeprefix('python:')}"

    def generate(
        self, requests: Sequence[Request], *, temperature: float, max_tokens: int
    ) -> list[Answer]:
        """Call the function once per request."""
        calls = [self._call(request, temperature, max_tokens) for request in requests]
        if _is_async(self.function):
            return _in_background(_together(calls))
        return [_now(call) for call in calls]

    def _call(self, request: Request, temperature: float, max_tokens: int) -> Callable[[], Any]:
        given = {"seed": request.seed, "temperature": temperature, "max_tokens": max_tokens}
        chosen = {name: given[name] for name in self.keywords}
        return functools.partial(self.function, request.prompt, **chosen)


def load_callable(target: str) -> PythonCallable:
    """Import ``package.module:callable``.

    Raises
    ------
    ModelSpecError
        If the module or the attribute does not exist, the import fails, or it is not callable.
    """
    spec = f"python:{target}"
    path, colon, attribute = target.partition(":")
    if not colon or not path or not attribute:
        raise ModelSpecError(
            f"model {spec!r} does not name a callable; write python:package.module:callable"
        )
    try:
        found: object = importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{path}.".startswith(f"{error.name}."):
            raise ModelSpecError(
                f"model {spec!r}: importing {path!r} needs {error.name!r}, which is not installed"
            ) from error
        raise ModelSpecError(
            f"model {spec!r}: there is no module {error.name!r}; install it, or add its folder "
            "to `pythonpath` in the pytest configuration"
        ) from error
    except Exception as error:  # a user's module can fail in any way
        raise ModelSpecError(
            f"model {spec!r}: importing {path!r} failed with {_words(error)}"
        ) from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            near = suggestion(part, (name for name in dir(found) if not name.startswith("_")))
            raise ModelSpecError(f"model {spec!r}: {path!r} has no {attribute!r}{near}")
        found = getattr(found, part)
    return PythonCallable.of(found, spec)


def _accepted(function: Callable[..., Any], name: str) -> tuple[str, ...]:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some built-in callables have none
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


def _is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - an object with an async __call__
    )


def _now(call: Callable[[], Any]) -> Answer:
    try:
        answer = call()
        if inspect.isawaitable(answer):
            answer = _in_background(_await(answer))
    except Exception as error:  # noqa: BLE001 - one failed answer must not lose the others
        return Missing("error", _words(error))
    return _checked(answer)


async def _together(calls: Sequence[Callable[[], Any]]) -> list[Answer]:
    limit = asyncio.Semaphore(_AT_ONCE)

    async def one(call: Callable[[], Any]) -> Answer:
        async with limit:
            try:
                return _checked(await call())
            except Exception as error:  # noqa: BLE001 - as above
                return Missing("error", _words(error))

    return list(await asyncio.gather(*map(one, calls)))


async def _await(awaitable: Awaitable[T]) -> T:
    return await awaitable


def _in_background(work: Coroutine[Any, Any, T]) -> T:
    future = asyncio.run_coroutine_threadsafe(work, _loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


@functools.cache
def _loop() -> asyncio.AbstractEventLoop:
    # One loop for the whole process: async HTTP clients are bound to the loop of their first call,
    # and a test may already run inside another one.
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="llmfair-client", daemon=True).start()
    return loop


def _checked(answer: object) -> Answer:
    if answer is None:
        return Missing("null", "the callable returned None")
    if isinstance(answer, Missing):
        return answer
    if not isinstance(answer, str):
        return Missing("error", f"the callable returned {type(answer).__name__}, not str")
    return answer if answer.strip() else Missing("empty", "the callable returned no text")


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": ")
