"""Write one page for each metric, from the registry: called by conf.py when the site is built."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest_llmfair
from pytest_llmfair import Result, metrics
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

# The second example has so many times the data of the first.
TIMES = 50

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

The data are those of a perfectly fair model, few enough to read. ``mode="point"`` judges the bare
number, so this test is green although so few data prove nothing.

.. code-block:: python

{test}

Its result:

.. code-block:: text

{few}

The result with {times} times the data, as text and as a notebook shows it:

.. code-block:: text

{many}

.. raw:: html

   <div class="verdict">{block}</div>
"""


def metric_pages() -> dict[str, str]:
    """Return the text of each page by the name of its file."""
    return {f"{n}.rst": page(info) for n, info in all_metrics().items()} | {"index.rst": index()}


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
    """Return the list of metrics, by family."""
    found = all_metrics().values()
    parts = [INDEX.format(count=len(found))]
    for family in sorted({info.family for info in found}):
        parts.append(f"{family.capitalize()}\n{'-' * len(family)}\n\n.. list-table::\n")
        parts.append("   :width: 100%\n   :widths: 34 46 20\n\n")
        for info in found:
            if info.family == family:
                parts.append(f"   * - :doc:`{breakable(info.name)} <{info.name}>`\n")
                summary = info.summary.rstrip(".")
                parts.append(f"     - {summary} ({info.symbol})\n     - {info.side}\n")
        parts.append("\n")
    parts.append(".. toctree::\n   :hidden:\n\n")
    parts += [f"   {breakable(name)} <{name}>\n" for name in sorted(all_metrics())]
    return "".join(parts)


def page(info: MetricInfo) -> str:
    """Return the page of a metric; its example runs here."""
    few, many = judged(info, 4, 2), judged(info, 4 * TIMES, max(info.generations, 2))
    return PAGE.format(
        name=info.name,
        line="=" * len(info.name),
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
        times=TIMES,
        few=indented(str(few)),
        many=indented(str(many)),
        block=many._repr_html_(),
        test=indented(textwrap.dedent("\n".join(example(info)[1:]))),
    )


def judged(info: MetricInfo, units: int, generations: int) -> Result:
    """Judge the answers of a perfectly fair model, with the bound of the printed example."""
    assertion = getattr(pytest_llmfair, info.assertion)
    given = {**info.fair_arguments(units, generations), word_of(info): example_bound(info)}
    result: Result = assertion(**given, mode="point")
    return result


def breakable(name: str) -> str:
    """Let a browser break a long name after an underscore, and nowhere else."""
    return name.replace("_", "_\N{ZERO WIDTH SPACE}")


def indented(text: str) -> str:
    """Return the body of a directive."""
    return textwrap.indent(text, "   ")
