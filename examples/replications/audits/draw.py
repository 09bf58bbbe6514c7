"""Draw the intervals of a run of this folder as pictures for light and dark pages.

    python -m pytest examples/replications/audits --llmfair-json=run.json
    python examples/replications/audits/draw.py run.json docs

writes docs/audit_gpt.svg and docs/audit_compas.svg.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from pytest_llmfair.reports.plots import natural

LEFT, WIDTH, ROW, TOP = 270, 350, 24, 60
CLASSES = {"PASS": "pass", "FAIL": "fail"}
COMPAS = {
    "false_positive_rate_difference": "rated high, of those not charged again",
    "false_negative_rate_difference": "rated low, of those charged again",
    "false_discovery_rate_difference": "not charged again, of those rated high",
    "false_omission_rate_difference": "charged again, of those rated low",
}
STYLE = """\
.page { fill: #ffffff; } text { fill: #222222; } .axis { stroke: #888888; }
.bound { stroke: #222222; stroke-width: 2; stroke-dasharray: 4 3; }
.line { stroke-width: 4; } .floor { stroke: #8a929e; stroke-width: 2; }
line.pass { stroke: #2f6b45; } line.fail { stroke: #b5402a; } line.open { stroke: #9a7a1f; }
circle { fill: #222222; } text.pass { fill: #2f6b45; } text.fail { fill: #8a3324; }
text.open { fill: #735a12; }
@media (prefers-color-scheme: dark) {
.page { fill: #131416; } text { fill: #e6e6e6; } .bound { stroke: #e6e6e6; }
line.pass { stroke: #6cc08b; } line.fail { stroke: #e58672; } line.open { stroke: #d8b24a; }
circle { fill: #e6e6e6; } text.pass { fill: #6cc08b; } text.fail { fill: #e58672; }
text.open { fill: #d8b24a; }
}"""


def picture(
    title: str, blocks: Mapping[str, Sequence[tuple[str, Mapping[str, Any]]]], foot: str
) -> str:
    """Return one picture: a block has a heading and rows, each with a label and a result."""
    results = [result for rows in blocks.values() for _, result in rows]
    bound = results[0]["bound"]
    axis, _ = natural(results, [bound, *(r["noise_floor"] for r in results)])
    height = TOP + ROW * (len(results) + len(blocks)) + 60

    def x(value: float) -> str:
        return f"{LEFT + WIDTH * axis.at(value) / 100:.1f}"

    shapes, described, y = [], [], TOP
    for heading, rows in blocks.items():
        shapes.append(f'<text x="10" y="{y + 5}" font-weight="bold">{escape(heading)}</text>')
        for label, found in rows:
            y += ROW
            verdict = found["verdict"]
            kind = CLASSES.get(verdict, "open")
            low, high, floor = found["lower"], found["upper"], found["noise_floor"]
            shapes += [
                f'<text x="18" y="{y + 5}">{escape(label)}</text>',
                f'<line class="line {kind}" x1="{x(low)}" x2="{x(high)}" y1="{y}" y2="{y}"/>',
                f'<circle cx="{x(found["value"])}" cy="{y}" r="5"/>',
                f'<text class="{kind}" x="{LEFT + WIDTH + 12}" y="{y + 5}">{verdict}</text>',
            ]
            if floor is not None:
                shapes.append(f'<path class="floor" d="M{x(floor)} {y - 9}v18"/>')
            described.append(
                f"{label}, {heading}: {found['value']:.2f}, interval {low:.2f} to {high:.2f}, "
                f"{verdict}"
            )
        y += ROW
    ticks = "".join(
        f'<path class="axis" d="M{LEFT + WIDTH * at / 100:.1f} {y}v6"/>'
        f'<text x="{LEFT + WIDTH * at / 100:.1f}" y="{y + 22}" text-anchor="middle">{shown}</text>'
        for at, shown, _ in axis.ticks
    )
    body = "\n".join(shapes)
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {height}" font-family="Helvetica, Arial, \
sans-serif" font-size="13" role="img" aria-labelledby="title desc">
<title id="title">{escape(title)}</title>
<desc id="desc">{escape(". ".join(described))}.</desc>
<style>
{STYLE}
</style>
<rect class="page" width="760" height="{height}"/>
<text x="10" y="24" font-weight="bold" font-size="15">{escape(title)}</text>
<path class="bound" d="M{x(bound)} {TOP - 20}V{y}"/>
<path class="axis" d="M{LEFT} {y}h{WIDTH}"/>
{body}
{ticks}
<text x="10" y="{height - 12}" font-size="12">{escape(foot)}</text>
</svg>
"""


def pictures(results: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the text of each picture by file name."""
    by = {"both": "eight groups", "race": "four races", "gender": "women and men"}
    gpt: dict[str, list[tuple[str, Mapping[str, Any]]]] = {words: [] for words in by.values()}
    compas = []
    for result in results:
        file, _, test = result["nodeid"].rpartition("/")[2].partition("::")
        place = re.search(r"\[(.*), by (\w+)\]", test)
        if file == "test_gpt_first_places.py" and place:
            gpt[by[place[2]]].append((place[1], result))
        if result["metric"] in COMPAS:
            compas.append((COMPAS[result["metric"]], result))
    compas.sort(key=lambda row: list(COMPAS.values()).index(row[0]))
    return {
        "audit_gpt.svg": picture(
            "First places of the least over the most favoured group",
            gpt,
            "dashed: four fifths; dot: value; line: 95 % interval; "
            "grey mark: what a model that ignores names gives at this size",
        ),
        "audit_compas.svg": picture(
            "Difference between Black and White defendants",
            {"COMPAS, Broward County": compas},
            "dashed: our bound, 0.1; dot: value; line: 95 % interval; "
            "grey mark: what equal rates give at this size",
        ),
    }


if __name__ == "__main__":
    run, folder = map(Path, sys.argv[1:])
    for name, text in pictures(json.loads(run.read_text(encoding="utf-8"))["results"]).items():
        (folder / name).write_text(text, encoding="utf-8")
