"""Write one page for each metric, from the registry: called by conf.py when the site is built."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import numpy as np

import pytest_llmfair
from pytest_llmfair import FairnessAssertionError, Result, metrics
from pytest_llmfair.cli import example, range_of, units_needed
from pytest_llmfair.metrics import MetricInfo, all_metrics
from pytest_llmfair.signatures import example_bound, word_of

PAPERS = {
    "bommasani2023": "Liang, Bommasani et al. (2023): Holistic Evaluation of Language Models. "
    "TMLR, arXiv:2211.09110",
    "bordia2019": "Bordia & Bowman (2019): Identifying and Reducing Gender Bias in Word-Level "
    "Language Models. NAACL student research workshop",
    "bouchard2024": "Bouchard (2024): An Actionable Framework for Assessing Bias and Fairness in "
    "Large Language Model Use Cases. arXiv:2407.10853",
    "czarnowska2021": "Czarnowska, Vyas & Shah (2021): Quantifying Social Biases in NLP: A "
    "Generalization and Empirical Comparison of Extrinsic Fairness Metrics. TACL 9",
    "dwivedi2024": "Dwivedi-Yu (2024): FairPair: A Robust Evaluation of Biases in Language "
    "Models through Paired Perturbations",
    "lopezpaz2017": "Lopez-Paz & Oquab (2017): Revisiting Classifier Two-Sample Tests. ICLR, "
    "arXiv:1610.06545",
    "lum2024": "Lum, Anthis, Nagpal & D'Amour (2024): Bias in Language Models: Beyond Trick "
    "Tests and Toward RUTEd Evaluation",
    "rabbi": "Chen, Ji & Evans: The Mismeasure of Man and Models: Evaluating Allocational Harms "
    "in Large Language Models (RABBI)",
    "saleiro2018": "Saleiro et al. (2018): Aequitas: A Bias and Fairness Audit Toolkit",
}

# How often an indicator is exchanged, and how far scores move on average.
INDICATORS = {"y_pred": 0.15, "correct": 0.2, "meaningful": 0.1, "preferred": 0.2}
SCORES = {
    **dict.fromkeys(("scores", "y_prob", "y_score", "scores_a", "p_stereotypical"), 0.0),
    **dict.fromkeys(("scores_b", "p_antistereotypical", "embeddings_b"), -0.1),
}
OTHERS = {
    "A kind word.": "A kind and short word.",
    "song": "game",
    "She is kind.": "She is warm.",
}
VARIED = {*INDICATORS, *SCORES, "male_counts", "texts_b", "lists_b", "responses"}

UNITS = 200

INDEX = """\
Metrics
=======

Each of the {count} metrics has a page with its formula in words, its arguments, its assertion, the
amount of data that a bound needs, and an example that was run when this site was built.
``llmfair metrics`` prints the list, ``llmfair metrics NAME`` most of a page. No metric has a
default bound. :doc:`/choosing` helps to choose among them.

"""

PAGE = """\
{name}
{line}

{sentence}

.. list-table::
   :stub-columns: 1
   :width: 100%
   :widths: 20 80

   * - Symbol
     - {symbol}
   * - Paper
     - {paper}
   * - Range
     - {range}
   * - Unit of sampling
     - {unit}
   * - Other names
     - {aliases}
   * - Assertion
     - ``{assertion}(..., {word}=...)``
   * - In the paper
     - {reported}

.. autofunction:: {module}.{name}

How much data
-------------

.. code-block:: text

{needed}

A test
------

The data are those of a perfectly fair model, few enough to read. So few prove nothing: with data
of your own leave out ``mode="point"``, which judges the bare number.

.. code-block:: python

{test}

A result
--------

From {units} simulated rows, as text and as a notebook shows it:

.. code-block:: text

{many}

.. raw:: html

   <div class="verdict">{block}</div>
"""


def metric_pages() -> dict[str, str]:
    """Return the text of each page by the name of its file."""
    found = all_metrics()
    pages = {f"{name}.rst": page(info) for name, info in found.items()}
    families = {info.family for info in found.values()}
    pages |= {f"family_{family}.rst": family_page(family) for family in families}
    return pages | {"index.rst": index()}


def write(folder: Path, pages: dict[str, str]) -> None:
    """Write pages, and touch only those that changed, so that only these are built again."""
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.rst"):
        if old.name not in pages:
            old.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, encoding="utf-8")


def index() -> str:
    """Return the list of families, each with its metrics."""
    found = all_metrics().values()
    families = sorted({info.family for info in found})
    parts = [INDEX.format(count=len(found))]
    for family in families:
        parts.append(f"{family.capitalize()}\n{'-' * len(family)}\n\n{_rows_of(family)}\n")
    parts.append(".. toctree::\n   :hidden:\n\n")
    parts += [f"   family_{family}\n" for family in families]
    return "".join(parts)


def family_page(family: str) -> str:
    """Return the page of a family: what it compares, and its metrics."""
    # In the sidebar metrics are below their family.
    compares, papers = _families()[family]
    names = [name for name, info in all_metrics().items() if info.family == family]
    return (
        f"{family.capitalize()}\n{'=' * len(family)}\n\nCompared: {compares} "
        f"({papers}).\n\n{_rows_of(family)}\n.. toctree::\n   :hidden:\n\n"
        + "".join(f"   {breakable(name)} <{name}>\n" for name in sorted(names))
    )


def _families() -> dict[str, tuple[str, str]]:
    """Return from reference.md what the metrics of a family compare, and whose they are."""
    text = (Path(__file__).parent / "reference.md").read_text("utf-8")
    table = text.partition("| family |")[2].partition("\n\n")[0]
    rows = [line.strip("|").split(" | ") for line in table.splitlines()[2:]]
    return {
        family: (compares.strip(), papers.strip())
        for names, compares, papers in rows
        for family in names.strip().split(", ")
    }


def _rows_of(family: str) -> str:
    rows = [".. list-table::\n   :width: 100%\n   :widths: 34 46 20\n\n"]
    for info in all_metrics().values():
        if info.family == family:
            rows.append(f"   * - :doc:`{breakable(info.name)} <{info.name}>`\n")
            rows.append(f"     - {info.summary.rstrip('.')} ({info.symbol})\n     - {info.side}\n")
    return "".join(rows)


def page(info: MetricInfo) -> str:
    """Return the page of a metric; its example runs here."""
    many = judged(info, UNITS, max(info.generations, 2))
    return PAGE.format(
        name=info.name,
        line="=" * len(info.name),
        sentence=info.summary.rstrip(".") + ".",
        symbol=info.symbol,
        paper=PAPERS.get(info.paper, info.paper),
        range=range_of(info),
        unit=info.unit,
        aliases=", ".join(f"``{alias}``" for alias in info.aliases) or "none",
        assertion=info.assertion,
        word=word_of(info),
        reported=info.reported,
        module=metrics.__name__,
        needed=indented("\n".join(units_needed(info))),
        units=UNITS,
        many=indented(str(many)),
        block=many._repr_html_(),
        test=indented(textwrap.dedent("\n".join(example(info)[1:]))),
    )


def judged(info: MetricInfo, units: int, generations: int) -> Result:
    """Judge answers that are not perfectly fair, with the bound of the printed example."""
    draw = np.random.default_rng(7)
    arguments = {
        name: varied(name, value, draw)
        for name, value in info.fair_arguments(units, generations).items()
    }
    try:
        assertion = getattr(pytest_llmfair, info.assertion)
        result: Result = assertion(**arguments, **{word_of(info): example_bound(info)})
    except FairnessAssertionError as red:
        result = red.result
    return result


def varied(name: str, value: Any, draw: np.random.Generator) -> Any:
    """Change some of the values of a perfectly fair model: a page of zeros shows little."""
    if isinstance(value, list) and name in VARIED:
        return [varied(name, each, draw) for each in value]
    if name in INDICATORS:
        return type(value)(1 - value) if draw.random() < INDICATORS[name] else value
    if name == "male_counts":
        return int(draw.binomial(2 * value, draw.beta(4, 5)))
    if name in SCORES:
        moved = float(value + draw.normal(SCORES[name], 0.2))
        return round(min(abs(moved), 1.0) if 0.0 <= value <= 1.0 else moved, 2)
    if name in ("texts_b", "lists_b", "responses") and draw.random() < 0.2:
        return OTHERS.get(value, value)
    return value


def breakable(name: str) -> str:
    """Let a browser break a long name after an underscore, and nowhere else."""
    return name.replace("_", "_\N{ZERO WIDTH SPACE}")


def indented(text: str) -> str:
    """Return the body of a directive."""
    return textwrap.indent(text, "   ")
