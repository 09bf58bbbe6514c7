"""What the release documents share: data files, templates, and facts of a run record."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Mapping
from functools import cache
from typing import Any

from pytest_llmfair._util.located import shipped
from pytest_llmfair._util.wording import number, plural
from pytest_llmfair.judging.facts import missing
from pytest_llmfair.judging.message import decides, in_words, metric_name
from pytest_llmfair.reports.markdown import plain_text

TOY_MODEL = "builtin:ngram"


def data(name: str) -> Any:
    """Return a data file of the gate, such as ``references``."""
    return shipped(f"gate/data/{name}.yaml")


def rendered(name: str, **values: Any) -> str:
    """Return a template of the gate, such as ``checklist.md``, with these values filled in."""
    text: str = _templates().get_template(f"{name}.j2").render(**values)
    return text.rstrip("\n") + "\n"


def described_models(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the descriptions of models in a record; empty where it has none."""
    return [x for x in record.get("models") or () if isinstance(x, Mapping) and x.get("name")]


def model_names(record: Mapping[str, Any]) -> list[str]:
    """Return the models that answered, as far as the record names them."""
    named = [str(model["name"]) for model in described_models(record)]
    named += [name for result in record["results"] for name in models_of(result)]
    return list(dict.fromkeys(named))


def unversioned(record: Mapping[str, Any]) -> list[str]:
    """Return models without revision and digest; that of a baseline is not the candidate's."""
    models = described_models(record)
    tested = {m["name"] for m in models if "role" not in m}
    versioned = [m for m in models if m.get("revision") or m.get("digest")]
    known = {m["name"] for m in versioned if "role" not in m or m["name"] not in tested}
    return [name for name in model_names(record) if name not in known]


def models_of(result: Mapping[str, Any]) -> list[str]:
    """Return the model of a result, or candidate and baseline of a comparison."""
    parts = str(result.get("model") or "").split(" against ")
    return [re.sub(r" \((candidate|baseline)\)$", "", part) for part in parts if part]


def replayed(record: Mapping[str, Any]) -> tuple[int, int] | None:
    """Count answers asked for live and replayed; None where the record has no context."""
    found = [
        tuple(origin)
        for result in record["results"]
        if isinstance(origin := result.get("origin"), (list, tuple)) and len(origin) == 2
    ]
    context = record.get("context")
    whole = context.get("answers") if isinstance(context, Mapping) else None
    if isinstance(whole, Mapping) and {"live", "replayed"} <= whole.keys():
        found = [(whole["live"], whole["replayed"])]
    return (sum(x[0] for x in found), sum(x[1] for x in found)) if found else None


def direction(result: Mapping[str, Any]) -> str:
    """Return the group that is treated worse, in the words of the page; empty without any."""
    if found := dict(in_words(result)).get("direction", ""):
        return found
    pair = next((n for n in result["notes"] if n.startswith("the first answer of a pair")), "")
    words = ("the first answer of a pair", "the second")
    for word, group in zip(words, result["compared"], strict=False):
        pair = pair.replace(word, f'the answer about group "{group}"')
    return pair


def _wrapped(text: str, first: str) -> str:
    """Return lines of at most 80 columns; the first begins with a word or spaces."""
    return textwrap.fill(text, 80, initial_indent=first, subsequent_indent=" " * len(first))


@cache
def _templates() -> Any:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("pytest_llmfair.gate"),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "md": lambda value: plain_text(str(value)),
        "number": number,
        "plural": plural,
        "metric": metric_name,
        "check": lambda result: f"{result['nodeid']} {metric_name(result)}".strip(),
        "direction": direction,
        "missing": missing,
        "decides": decides,
        "yaml": lambda value: json.dumps(value, ensure_ascii=False),
        "wrapped": _wrapped,
    }
    return environment
