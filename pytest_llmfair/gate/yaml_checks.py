"""Files of checks as pytest items, one for each check, and ``llmfair check``, which runs them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Generator, Iterable
from functools import partial
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from pytest_llmfair import session as recording
from pytest_llmfair._util.documents import schema_of
from pytest_llmfair._util.located import load_yaml
from pytest_llmfair._util.printing import printable
from pytest_llmfair._util.validation import read_utf8
from pytest_llmfair._util.wording import escape
from pytest_llmfair.gate.check import AssertionCall, Check, Checks
from pytest_llmfair.gate.check_file import NAMES_A_SUITE, checks_in, read_checks
from pytest_llmfair.judging.result import (
    BoundExceeded,
    FairnessAssertionError,
    InvalidEvidence,
    Underpowered,
)
from pytest_llmfair.reports.tracebacks import is_ours, raised_by_us

# Clients of models that files name, by specification: all files of a session share them.
CLIENTS = pytest.StashKey[dict[str, Any]]()
# Reads files with the key `suite`; only those load it, like the module of a command.
_SUITES = "pytest_llmfair.suites.checks"
_RAISED = {"FAIL": BoundExceeded, "INVALID": InvalidEvidence, "UNDERPOWERED": Underpowered}
# Errors about values and files, which say what to do; a traceback adds nothing.
_ADVICE = (ValueError, TypeError, OSError, ImportError, RuntimeError)


class CheckFile(pytest.File):
    """A file of checks; whatever is wrong with it is an error of its collection."""

    # Makes the checks of a command, which has no file of its own.
    make: Callable[[], Checks] | None = None

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.pairs: dict[Any, Any] = {}

    def collect(self) -> Iterable[CheckItem]:
        """Read the file, and return a test for each check."""
        try:
            checks = self._read() if self.make is None else self.make()
        except (ValueError, OSError) as error:
            wrong = str(error)
        else:
            return [CheckItem.of(self, check) for check in checks.checks]
        raise self.CollectError(printable(wrong))

    def _read(self) -> Checks:
        if NAMES_A_SUITE.search(read_utf8(self.path)):
            found: Checks = import_module(_SUITES).read_suite(self.path)
            return found
        return read_checks(self.path)


class CheckItem(pytest.Function):
    """One check; the fixtures `model_client` and `counterfactual_pairs` can be overridden."""

    check: Check

    @classmethod
    def of(cls, parent: CheckFile, check: Check) -> CheckItem:
        """Make the test of a check."""

        def run(request: pytest.FixtureRequest) -> None:
            __tracebackhide__ = True
            fixture = request.getfixturevalue

            def pairs(prompts: Any, lexicon: Any, *given: Any, placebo: bool) -> Any:
                # Checks of a file on the same prompts share their pairs, as they do answers.
                key = (id(prompts), lexicon if isinstance(lexicon, str) else id(lexicon), placebo)
                if (key := (*key, *given)) not in parent.pairs:
                    make = fixture("counterfactual_pairs")
                    parent.pairs[key] = make(prompts, lexicon, *given, placebo=placebo)
                return parent.pairs[key]

            if (recorder := recording.active()) is not None:
                recorder.rerun = check.rerun
                # Markers that a conftest file adds come first.
                recorder.about = {**check.about, **recorder.about}
            check.run(
                client=lambda: _client(request, check.model),
                scorers=lambda: fixture("scorers"),
                pairs=pairs,
            )

        item: CheckItem = cls.from_parent(parent, name=escape(printable(check.name)), callobj=run)
        item.check = check
        item.add_marker(pytest.mark.llmfair(**check.about))
        for name in check.marks:
            item.add_marker(name)
        if check.expect != "PASS":
            reason = f"the file expects {check.expect}"
            raises = _RAISED[check.expect]
            item.add_marker(pytest.mark.xfail(raises=raises, strict=True, reason=reason))
        return item

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """Return the place of the check in its file; no line where it has no file."""
        return self.path, self.check.line - 1 if self.check.line else None, self.name

    def repr_failure(  # type: ignore[override]  # as pytest.Function, which takes no style
        self, excinfo: pytest.ExceptionInfo[BaseException]
    ) -> Any:
        """Return the message without a traceback, where the error says what to do."""
        error = excinfo.value
        from_package = is_ours(type(error).__module__) or raised_by_us(excinfo)
        verdict = isinstance(error, FairnessAssertionError)
        if self.config.getoption("fulltrace", False) or not (
            verdict or (isinstance(error, _ADVICE) and from_package)
        ):
            return super().repr_failure(excinfo)
        shown = excinfo.getrepr(style="value")
        lines = str(error).split("\n")
        place = f"{self.path.name}:{self.check.line}" if self.check.line else "command line"
        if self.check.rerun or not self.check.line:
            # Pytest could not run it again by its name.
            lines = list(takewhile(lambda line: not line.startswith("  rerun "), lines))
            if self.check.line:
                options = getattr(getattr(error, "result", None), "options", ())
                # Model and seed are those of the answers that the command names.
                again = [self.check.rerun]
                for option in options:
                    if not option.startswith(("--llmfair-model ", "--llmfair-seed ")):
                        again += [option] if option not in again[0] else []
                lines.append(f"  {'rerun':<13}{' '.join(again)}")
        about = self.check.about
        lines.append(f"  {'check':<13}{place}, owner {about['owner']}: {about['rationale']}")
        for entry in shown.reprtraceback.reprentries:
            entry.lines = lines
        if shown.reprcrash is not None:
            shown.reprcrash.path, shown.reprcrash.lineno = str(self.path), self.check.line
            shown.reprcrash.message = lines[0]
        return shown


def _client(request: pytest.FixtureRequest, model: str | None) -> Any:
    """Return the client of a model; by default that of the session."""
    if model is None:
        return request.getfixturevalue("model_client")
    from pytest_llmfair.clients import load_client

    recorder = recording.active()
    clients = request.config.stash.setdefault(CLIENTS, {})
    if model not in clients and recorder is not None:
        settings = recorder.settings
        clients[model] = load_client(model, seed=settings.seed, max_tokens=settings.max_tokens)
    return clients[model]


def run_pytest(arguments: Iterable[str], *plugins: object) -> int:
    """Run pytest with this plugin, and return its exit status."""
    return int(pytest.main(["-p", "llmfair", *arguments], plugins))


class GivenChecks:
    """Lets pytest collect checks in the place of a file or a folder, which `path` names."""

    def __init__(self, path: Path, make: Callable[[], Checks]) -> None:
        self._path = path
        self._make = make

    def _collected(self, parent: Any, **options: Any) -> CheckFile:
        file: CheckFile = CheckFile.from_parent(parent, path=self._path, **options)
        file.make = self._make
        return file

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: Any) -> None:
        """Stay in this process: workers of xdist would not know a check that is in no file."""
        if getattr(config.option, "dist", "no") != "no":
            config.option.dist = "no"

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path, parent: Any) -> Generator[None, Any, Any]:
        """Return the checks alone; another plugin may take a .txt file for doctests."""
        found = yield
        return [self._collected(parent)] if file_path == self._path else found

    @pytest.hookimpl(tryfirst=True)
    def pytest_collect_directory(self, path: Path, parent: Any) -> Any:
        """Return the checks instead of the folder; their names begin with the command's source."""
        if path != self._path:
            return None
        return self._collected(parent, nodeid=self._make().source)


_USAGE = """llmfair check FILE.llmfair.yaml ... [pytest options]
       llmfair check --metric METRIC --bound X --prompts FILE [--attribute NAME] [--model SPEC]
       llmfair check --metric METRIC --bound X --data FILE.csv"""
_EPILOG = """Whatever is not listed above goes to pytest, such as -q, -k, --llmfair-json or
--llmfair-plan. The exit status is that of pytest: 0 if no check is red, 1 if one is, 2 if the
run was interrupted or an option is wrong, 4 for wrong usage of pytest, 5 if there is no check."""
# Keys of a check that are no options of their own: --set gives them.
_BY_SET = ("columns", "marks", "data", "prompts")
_KINDS = {"number": float, "integer": int}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of one check."""
    parser.usage, parser.epilog = _USAGE, _EPILOG
    parser.add_argument("--prompts", type=Path, metavar="FILE", help="prompts, one per line")
    parser.add_argument("--data", type=Path, metavar="FILE", help="CSV or JSONL of arrays")
    for name, about in _options().items():
        kind = _KINDS.get(str(about.get("type")), str)
        parser.add_argument(
            f"--{name}", type=kind, metavar=name.upper(), help=about["description"]
        )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a further key of the check, such as threshold=0.4 or groups=[female, male]",
    )


def _options() -> dict[str, Any]:
    """Return the keys of a check that are options, with what their schema says."""
    schema = schema_of("gate/checks.schema.json")["$defs"]
    keys = schema["check"]["properties"]
    return {
        name: schema[part["$ref"].rpartition("/")[2]] if "$ref" in part else part
        for name, part in keys.items()
        if name not in _BY_SET
    }


def run(arguments: argparse.Namespace) -> int:
    """Run the checks with pytest, and return its exit status."""
    given = list(arguments.rest)
    if arguments.metric is None:
        if not any(Path(text.partition("::")[0]).exists() for text in given):
            raise ValueError(
                "there is nothing to check; give a file such as fairness.llmfair.yaml (`llmfair "
                "init` writes one), or --metric, a bound and --prompts FILE or --data FILE"
            )
        return run_pytest(given)
    path, make = _one_check(arguments)
    if _is_known(arguments.metric):
        # What is wrong shows at once; a metric of a conftest.py is only known to pytest.
        make()
    return run_pytest([*given, str(path)], GivenChecks(path, make))


def _is_known(metric: str) -> bool:
    try:
        AssertionCall.of(metric)
    except ValueError:
        return False
    return True


def _one_check(arguments: argparse.Namespace) -> tuple[Path, Callable[[], Checks]]:
    """Return the file that a check is about, and a function that makes the check."""
    entry: dict[str, Any] = {
        "rationale": "given on the command line",
        "owner": "who ran the command",
    }
    for name, about in _options().items():
        if (given := getattr(arguments, name)) is not None:
            # `type` is one name or a list of names.
            kinds = about.get("type", "")
            written = "array" in kinds or "object" in kinds
            entry[name] = load_yaml(given, f"--{name}") if written else given
    files = [file for file in (arguments.prompts, arguments.data) if file is not None]
    if len(files) != 1:
        raise ValueError(
            f"{len(files)} files are given for {arguments.metric}; give --prompts FILE for a "
            "model that is asked, or --data FILE for arrays"
        )
    path = files[0].resolve()
    entry["data" if arguments.prompts is None else "prompts"] = str(path)
    for text in arguments.set:
        key, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"--set is {text!r}; write KEY=VALUE, such as threshold=0.4")
        entry[key.strip()] = load_yaml(value, f"--set {key.strip()}")
    document = {"version": 1, "checks": [entry]}
    return path, partial(checks_in, document, "llmfair check", Path())
