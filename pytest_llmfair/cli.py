"""The command `llmfair`."""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Sequence

from pytest_llmfair.metrics import MetricInfo, all_metrics, get_metric

_DIRECTIONS = {
    "lower": "lower is fairer",
    "higher": "higher is fairer",
    "two-sided": "both sides count",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; by default those of the process.

    Returns
    -------
    int
        Exit status: 0, or 2 for wrong arguments.
    """
    parser = argparse.ArgumentParser(
        prog="llmfair", description="Fairness metrics for language models, as pytest assertions."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    metrics = commands.add_parser("metrics", help="list the metrics, or explain one")
    metrics.add_argument("name", nargs="?", help="a metric's name or alias")
    power = commands.add_parser("power", help="what an assertion of a given size can find")
    power.add_argument("name", metavar="METRIC", help="a metric's name or alias")
    power.add_argument("--threshold", type=float, required=True, help="bound or minimum")
    power.add_argument("--units", type=int, required=True, help="prompts, pairs, people a group")
    power.add_argument("--generations", type=int, default=None, help="answers per unit")
    power.add_argument(
        "--icc", type=float, default=0.3, help="correlation of answers to one prompt (0.3)"
    )
    power.add_argument("--power", type=float, default=0.8, help="probability to find it (0.8)")
    power.add_argument("--level", type=float, default=0.95, help="confidence level (0.95)")
    power.add_argument(
        "--prompt-cost", type=float, default=1.0, help="cost of a prompt, in answers (1)"
    )
    arguments = parser.parse_args(argv)
    try:
        if arguments.command == "power":
            text = _plan(arguments)
        else:
            text = explain(get_metric(arguments.name)) if arguments.name else table()
    except ValueError as error:
        parser.exit(2, f"llmfair: {error}\n")
    sys.stdout.write(text + "\n")
    return 0


def _plan(arguments: argparse.Namespace) -> str:
    from pytest_llmfair.planning import Design, report

    info = get_metric(arguments.name)
    design = Design(
        info,
        arguments.threshold,
        arguments.units,
        info.generations if arguments.generations is None else arguments.generations,
        arguments.icc,
        arguments.power,
        arguments.level,
    )
    return report(design, arguments.prompt_cost)


def table() -> str:
    """Return the list of metrics as text of at most 80 columns."""
    lines = []
    for family in dict.fromkeys(info.family for info in all_metrics().values()):
        lines.append(f"{family}")
        for info in all_metrics().values():
            if info.family == family:
                also = f" (also {', '.join(info.aliases)})" if info.aliases else ""
                lines.append(f"  {info.name}{also}")
                lines.append(f"      {_range(info)}, per {info.unit}")
                lines.append(f"      {info.assertion}")
    lines.append("")
    lines.append("`llmfair metrics NAME` explains one. No metric has a default bound.")
    return "\n".join(lines)


def explain(info: MetricInfo) -> str:
    """Return what a metric is, how it is asserted and what the papers report, as text."""
    word = "minimum" if info.direction == "higher" else "bound"
    return "\n".join(
        (
            f"{info.name}{inspect.signature(info.function)}",
            "",
            inspect.getdoc(info.function) or "",
            "",
            f"symbol     {info.symbol} ({info.paper})",
            f"range      {_range(info)}",
            f"unit       {info.unit}",
            f"assertion  {info.assertion}(..., {word}=...)",
            f"reported   {info.reported} (context, not a standard)",
        )
    )


def _range(info: MetricInfo) -> str:
    low, high = info.bounds
    return f"{low:g} to {high:g}, {_DIRECTIONS[info.direction]}, {info.fair_value:g} is even"


if __name__ == "__main__":
    sys.exit(main())
