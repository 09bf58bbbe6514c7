"""``llmfair export``: the checks of a recorded run as metrics, tags and page of an MLflow run."""

from __future__ import annotations

import argparse
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from pytest_llmfair._util.plain_data import sha256_of
from pytest_llmfair._util.printing import say
from pytest_llmfair._util.validation import install
from pytest_llmfair._util.wording import finite, plural
from pytest_llmfair.gate.documents import model_names
from pytest_llmfair.gate.recorded_runs import Key, first_attempts, read_record
from pytest_llmfair.judging.facts import estimate
from pytest_llmfair.reports.columns import shown_verdict
from pytest_llmfair.reports.html import html_page

# MLflow takes keys of 250 characters, and so many values and tags at once.
_LONGEST_LABEL, _LONGEST_TAG, _AT_ONCE = 200, 5000, 100
_ENDS = ("lower", "upper", "bound")


def to_mlflow(document: Mapping[str, Any], uri: str | None, experiment: str) -> str:
    """Log a run to a tracking store, by default that of the environment; return its ID."""
    # Read when MLflow is imported: without it MLflow sends what is used to its makers.
    os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
    try:
        from mlflow import MlflowClient
        from mlflow.entities import Metric, RunTag
        from mlflow.exceptions import MlflowException
    except ImportError as error:
        raise ImportError(
            f"llmfair export --mlflow needs {error.name or error}; run: {install('mlflow')}"
        ) from error
    context = document.get("context") or {}
    day = datetime.fromisoformat(context["started"]) if context else datetime.now()
    moment = int(1000 * day.timestamp())
    checks = first_attempts(document)
    labelled = list(zip(_labels(checks), checks.values(), strict=True))
    metrics = [
        Metric(f"{label}/{name}", float(value), moment, 0)
        for label, check in labelled
        for name, value in (("value", estimate(check)), *((end, check[end]) for end in _ENDS))
        if finite(value) and (name == "bound" or check["verdict"] != "INVALID")
    ]
    tags = {f"verdict {label}": shown_verdict(check) for label, check in labelled}
    tags |= {"models": ", ".join(model_names(document))[:_LONGEST_TAG]}
    if git := context.get("git"):
        tags["mlflow.source.git.commit"] = git["commit"]
    try:
        client = MlflowClient(tracking_uri=uri)
        known = client.get_experiment_by_name(experiment)
        place = known.experiment_id if known else client.create_experiment(experiment)
        run: str = client.create_run(place, start_time=moment).info.run_id
        status = "FAILED"
        try:
            for some in _parts(metrics):
                client.log_batch(run, metrics=some)
            for some in _parts([RunTag(*each) for each in tags.items()]):
                client.log_batch(run, tags=some)
            client.log_text(run, html_page(document), "report.html")
            status = "FINISHED"
        finally:
            client.set_terminated(run, status)
    except MlflowException as error:
        raise ValueError(f"MLflow: {error}") from error
    return run


def _parts(items: list[Any]) -> Iterable[list[Any]]:
    return (items[start : start + _AT_ONCE] for start in range(0, len(items), _AT_ONCE))


def _labels(keys: Iterable[Key]) -> list[str]:
    """Return a name for each check, the same in every run, of characters that MLflow takes."""
    names = [
        f"{test} {metric} {place + 1 if place else ''}".strip() for test, metric, place in keys
    ]
    labels = [re.sub(r"[^\w. -]", "_", name, flags=re.ASCII)[:_LONGEST_LABEL] for name in names]
    times = Counter(labels)
    return [
        label if times[label] == 1 else f"{label} {(sha256_of(name) or '')[:8]}"
        for name, label in zip(names, labels, strict=True)
    ]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``llmfair export``."""
    parser.add_argument(
        "run", type=Path, metavar="RUN", help="a recorded run, or an evidence folder"
    )
    parser.add_argument(
        "--mlflow",
        action="store_true",
        required=True,
        help="log values, interval ends, bounds, verdicts and the page to a new run of MLflow",
    )
    parser.add_argument(
        "--tracking-uri",
        metavar="URI",
        help="where to, such as sqlite:///mlflow.db (what MLFLOW_TRACKING_URI says, else MLflow's "
        "own default)",
    )
    parser.add_argument(
        "--experiment", default="fairness", metavar="NAME", help="experiment of the run (fairness)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Log the run, and print its ID."""
    document = read_record(arguments.run)
    try:
        made = to_mlflow(document, arguments.tracking_uri, arguments.experiment)
    except ImportError as error:
        raise ValueError(str(error)) from error
    count = plural("check", len(first_attempts(document)))
    say(f"{count} in run {made} of experiment {arguments.experiment}\n")
    return 0
