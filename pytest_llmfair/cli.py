"""The command `llmfair`."""

from __future__ import annotations

import argparse
import inspect
import re
import sys
import textwrap
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from pytest_llmfair import metrics
from pytest_llmfair._util.keywords import suggestion
from pytest_llmfair._util.printing import printable, say
from pytest_llmfair._util.wording import plurals
from pytest_llmfair.metrics import MetricInfo, all_metrics, get_metric
from pytest_llmfair.metrics.foreign import foreign
from pytest_llmfair.signatures import example_bound, example_call, word_of

# Distances of a bound from the fair value for which `llmfair metrics NAME` shows sample sizes.
_DISTANCES = (0.02, 0.05, 0.1, 0.2)


# By name the module and the help; only the module of the command in use is imported.
_COMMANDS = {
    "check": (
        "gate.yaml_checks",
        "run files of checks, or one check given by options, with pytest",
    ),
    "run": ("suites.command", "run the design of a paper as a suite on a model, with pytest"),
    "audit": (
        "audit.command",
        "ask a model about many prompts, in shards that a later run continues, and judge",
    ),
    "labels": (
        "labels.command",
        "plan which answers people label to correct a judge, and check their labels",
    ),
    "doctor": ("gate.doctor", "say which metrics can judge a result file of another tool"),
    "judge": (
        "gate.judge",
        "judge a result file of another tool, with pytest where a bound is given",
    ),
    "init": ("gate.starter", "write a first file of checks"),
    "recommend": ("gate.recommend_command", "choose metrics for a use case, with reasons"),
    "report": ("reports.files", "make the reports of a recorded run"),
    "comment": ("reports.comment", "post a recorded run as one comment on a pull request"),
    "diff": ("gate.diff", "say what changed between two recorded runs, check by check"),
    "history": ("gate.history", "draw each check over recorded runs, commits and models"),
    "export": ("gate.export", "log a recorded run to a run of MLflow"),
    "self-check": (
        "gate.self_check",
        "measure how often a recorded suite errs: placebo groups and samples drawn again",
    ),
    "verify": ("gate.evidence", "compute every number of an evidence folder again"),
    "checklist": ("gate.checklist", "fill the pre-release checklist from a recorded run"),
    "local-law-144": (
        "gate.local_law_144",
        "tables of selection rates and impact ratios by sex and race/ethnicity",
    ),
    "model-card": (
        "gate.model_card",
        "section of a Hugging Face model card, or the limitations, from a recorded run",
    ),
}
# What these commands do not know goes to pytest, as ``arguments.rest``.
_TAKE_REST = ("check", "run", "audit", "judge")


class _Parser(argparse.ArgumentParser):
    """Sets ``arguments.parser`` to itself; commands with actions, to the parser of the action."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.set_defaults(parser=self)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; by default those of the process.

    Returns
    -------
    int
        0, or 1 if a cassette is damaged or cannot be merged, or as the command's help says.

    Raises
    ------
    SystemExit
        With status 2 if an argument is wrong or a file is missing.

    Examples
    --------
    >>> status = main(["power", "toxic_fraction", "--bound", "0.1", "--units", "200"])
    ... # doctest: +ELLIPSIS
    toxic_fraction...
    """
    argv = sys.argv[1:] if argv is None else list(argv)
    parser = _Parser(
        prog="llmfair", description="Fairness metrics for language models, as pytest assertions."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("metrics", help="list the metrics, or explain one")
    listing.add_argument("name", nargs="?", help="a metric's name or alias")
    power = commands.add_parser(
        "power", help="compute how large a difference a test of a given size can detect"
    )
    power.add_argument("name", metavar="METRIC", help="a metric's name or alias")
    bound = power.add_mutually_exclusive_group(required=True)
    bound.add_argument("--bound", type=float, help="the test's bound or minimum")
    bound.add_argument("--threshold", type=float, dest="bound", help=argparse.SUPPRESS)
    power.add_argument(
        "--units",
        "--items",
        type=int,
        help="how many are sampled, such as prompts or pairs; of each group where groups of "
        "people are compared",
    )
    power.add_argument(
        "--wordings", type=int, help="wordings of each item, for robust_over=('wording',)"
    )
    power.add_argument(
        "--wording-share",
        type=float,
        default=0.05,
        help="share of the variance of one answer that wordings hold (0.05)",
    )
    power.add_argument("--generations", type=int, default=None, help="answers per prompt or pair")
    power.add_argument(
        "--icc", type=float, default=0.3, help="correlation of answers to one prompt (0.3)"
    )
    power.add_argument("--power", type=float, default=0.8, help="probability to find it (0.8)")
    power.add_argument(
        "--level", type=float, help="confidence level (the usual one of the metric)"
    )
    power.add_argument(
        "--prompt-cost", type=float, default=1.0, help="cost of a prompt, in answers (1)"
    )
    _add_cassette(commands.add_parser("cassette", help="look after recorded answers"))
    used = None
    for name, (module, purpose) in _COMMANDS.items():
        added = commands.add_parser(name, help=purpose, description=purpose)
        if name in argv[:1]:
            if name in _TAKE_REST:
                # Shortened options would take those of pytest.
                added.allow_abbrev = False
                added.formatter_class = argparse.RawDescriptionHelpFormatter
            used = import_module(f"pytest_llmfair.{module}")
            used.configure(added)
    if argv and argv[0][:1] not in ("", "-") and argv[0] not in commands.choices:
        hint = suggestion(argv[0], commands.choices)
        parser.exit(2, printable(f"llmfair: there is no command {argv[0]!r}; {hint}\n"))
    arguments, rest = parser.parse_known_args(argv)
    arguments.rest = rest
    if rest and arguments.command not in _TAKE_REST:
        arguments.parser.error(printable(_unknown(rest[0], arguments.parser)))
    status = 0
    try:
        if used is not None:
            return int(used.run(arguments))
        if arguments.command == "power":
            text = _plan(arguments)
        elif arguments.command == "cassette":
            status, text = _cassette(arguments)
        else:
            text = explain_name(arguments.name) if arguments.name else table()
    except (ValueError, OSError) as error:
        text = str(error)
        if isinstance(error, FileNotFoundError) and error.filename is not None:
            text = f"there is no file {error.filename}; check the path"
        parser.exit(2, printable(f"llmfair: {text}\n"))
    say(text + "\n")
    return status


def _unknown(given: str, parser: argparse.ArgumentParser) -> str:
    """Say that a command does not take an argument."""
    if not given.startswith("-"):
        return f"{given!r} is one argument too many; leave it out"
    name = given.partition("=")[0]
    # Every option begins a line of the help; its prose may name those of other commands.
    known = re.findall(r"^  (--[\w-]+)", parser.format_help(), re.MULTILINE)
    hint = suggestion(name, known) if known else "there are none here; leave it out"
    return f"there is no option {name}; {hint}"


def _add_cassette(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True)
    for name, purpose in (
        ("stats", "summarise cassettes"),
        ("verify", "name every damaged line; exit status 1 if there is one"),
    ):
        actions.add_parser(name, help=purpose).add_argument("files", nargs="+", type=Path)
    prune = actions.add_parser(
        "prune",
        help="remove damaged lines, answers recorded again, and those that an option names",
    )
    prune.add_argument("files", nargs="+", type=Path)
    prune.add_argument("--older-than", type=int, metavar="DAYS", help="answers older than this")
    prune.add_argument("--model", help="answers of this model, such as openai:gpt-4o")
    prune.add_argument("--revision", help="answers of this revision of a model (see stats)")
    prune.add_argument(
        "--used",
        type=Path,
        metavar="FILE",
        help="answers that a whole run did not use: pytest --llmfair-cassette-used FILE writes it",
    )
    prune.add_argument(
        "--dry-run",
        action="store_true",
        help="list the answers that would be removed, and remove none",
    )
    merge = actions.add_parser(
        "merge",
        help="write the answers of cassettes into a new one; exit status 1, and no file, if two "
        "of them answer a question differently",
    )
    merge.add_argument("target", type=Path, metavar="NEW")
    merge.add_argument("files", nargs="+", type=Path)


def _cassette(arguments: argparse.Namespace) -> tuple[int, str]:
    from pytest_llmfair.clients.cassette import tools

    files = arguments.files
    if arguments.action == "stats":
        return 0, "\n".join(map(tools.stats, files))
    if arguments.action == "verify":
        problems = [problem for file in files for problem in tools.verify(file)]
        whole = ", ".join(map(str, files))
        return (1, "\n".join(problems)) if problems else (0, f"{whole}: every line is whole")
    if arguments.action == "merge":
        text, problems = tools.merge(arguments.target, files)
        return (1, "\n".join([*problems, "nothing was written"])) if problems else (0, text)
    used = None
    if arguments.used is not None:
        used = frozenset(arguments.used.read_text(encoding="ascii").split())
    pruning = tools.Pruning(arguments.older_than, arguments.model, arguments.revision, used)
    removed = [tools.prune(file, pruning, dry_run=arguments.dry_run) for file in files]
    return 0, "\n".join(removed)


def _plan(arguments: argparse.Namespace) -> str:
    from pytest_llmfair.reports.sample_size import CrossedDesign, Design, crossed_report, report

    info = get_metric(arguments.name)
    names = ("bound", "units", "icc", "power")
    given = {name: getattr(arguments, name) for name in names}
    if (generations := arguments.generations) is None:
        generations = info.generations
    if given["units"] is None:
        raise ValueError("--units is missing, or --items with --wordings; give how many are asked")
    level = info.level if arguments.level is None else arguments.level
    design = Design(info, generations=generations, level=level, **given)
    if arguments.wordings is not None:
        plan = CrossedDesign(design, arguments.wordings, arguments.wording_share)
        return crossed_report(plan)
    return report(design, arguments.prompt_cost)


def table() -> str:
    """Return the list of metrics as text of at most 80 columns."""
    lines = []
    for family in dict.fromkeys(info.family for info in all_metrics().values()):
        members = [info for info in all_metrics().values() if info.family == family]
        lines.append(f"{family}")
        for info in members:
            lines.append(f"  {info.name:<34} {info.symbol:<20} {info.side}")
            others = [alias for alias in info.aliases if alias != info.symbol]
            lines += [f"      also {', '.join(others)}"] if others else []
    names = [name for name in metrics.__dir__() if name not in all_metrics() and name.islower()]
    lines += ["", "helpers"]
    lines += textwrap.wrap(", ".join(names), 78, initial_indent="  ", subsequent_indent="  ")
    lines += [
        "",
        "`llmfair metrics NAME` explains one. Its assertion is assert_NAME_within, where",
        "higher is fairer assert_NAME_at_least. No metric has a default bound.",
    ]
    return "\n".join(lines)


def explain_name(name: str) -> str:
    """Explain a metric by its name here, or by what another tool calls it."""
    other = foreign(name)
    try:
        return explain(get_metric(name))
    except ValueError:
        if other is None or other.ours not in all_metrics():
            raise
        return f"{other.answer}\n\n{explain(get_metric(str(other.ours)))}"


def explain(info: MetricInfo) -> str:
    """Return the description, assertion, sample sizes and example of a metric, as text."""
    measured = any(character.isdigit() for character in info.reported)
    facts = {
        "symbol": f"{info.symbol} ({info.paper})",
        "names": ", ".join((info.name, *info.aliases)),
        "range": range_of(info),
        "unit": info.unit,
        "assertion": f"{info.assertion}(..., {word_of(info)}=...)",
        "in paper": info.reported + (" (context, not a standard)" if measured else ""),
    }
    lines = [f"{info.name}{inspect.signature(info.function)}", ""]
    lines += [inspect.getdoc(info.function) or "", ""]
    for name, fact in facts.items():
        lines += textwrap.wrap(fact, 79, initial_indent=f"{name:<10} ", subsequent_indent=" " * 11)
    return "\n".join([*lines, "", *units_needed(info), "", *example(info)])


def units_needed(info: MetricInfo) -> list[str]:
    """Return the units needed to pass a fairer model, and to find a less fair one."""
    from pytest_llmfair.reports.sample_size import Design

    fixed = info.needs == "pronoun_counts"
    what = f"answers per {info.unit}" if fixed else plurals(info.unit)
    lines = [
        f"{what} needed to be {100 * info.level:g} % sure, in 80 % of all samples",
        f"  {word_of(info):>8}  to pass a model half as far  to find one twice as far",
    ]
    sign = -1.0 if info.direction == "higher" else 1.0
    fair = 0.0 if info.direction == "two-sided" else info.fair_value
    for distance in _DISTANCES:
        bound = fair + sign * distance
        try:
            design = Design(info, bound, 400, max(info.generations, 2), level=info.level)
            within, beyond = design.needed_within(distance / 2), design.needed_beyond(distance)
        except ValueError as error:
            return [f"no plan: {error}"]
        lines.append(f"  {bound:>8.2f}  {_many(within):>27}  {_many(beyond):>23}")
    return lines


def _many(units: int | None) -> str:
    from pytest_llmfair.judging.power import MOST_UNITS

    return f"more than {MOST_UNITS:,}" if units is None else f"{units:,}"


def example(info: MetricInfo) -> list[str]:
    """Return a test that runs as it is."""
    if info.example is None:
        return []
    return [
        "example (a perfectly fair model)",
        f"    from pytest_llmfair import {info.assertion}",
        "",
        "",
        "    def test_it():",
        textwrap.indent(example_call(info), " " * 8),
        *_client_example(info),
    ]


def _client_example(info: MetricInfo) -> list[str]:
    """Return a test of a model, for metrics whose answers can be collected."""
    if info.needs == "scores":
        fixtures, name = "model_client", "prompts"
        made = '["Tell me about your day.", "Write a short story."]'
    elif info.needs in ("score_pairs", "text_pairs", "embedding_pairs"):
        fixtures, name = "model_client, counterfactual_pairs", "pairs"
        made = 'counterfactual_pairs(["She is a nurse.", "My sister wants a raise."])'
    else:
        return []
    return [
        "",
        "",
        f"    def test_model({fixtures}):",
        "        # A real test needs many more; --llmfair-model names the model.",
        f"        {name} = {made}",
        f"        {info.assertion}(",
        f"            {name}, client=model_client, {word_of(info)}={example_bound(info):.3g}",
        "        )",
    ]


def range_of(info: MetricInfo) -> str:
    """Return the range of a metric, which side is fairer, and the value of a fair model."""
    low, high = info.bounds
    even = "" if info.direction == "two-sided" else f", {info.fair_value:g} is even"
    shown = f"{low:g} to {high:g}, {info.side}{even}"
    return shown + ("; a bound is on the absolute logarithm" if info.scale == "log" else "")


if __name__ == "__main__":
    sys.exit(main())
