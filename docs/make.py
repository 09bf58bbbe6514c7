"""Write the parts of the documentation that come from code: ``python docs/make.py [--check]``.

- `options.md` from the table of options, and the table of models.md from that of `SCHEMES`
- `noise_floor.svg` from figures of ``python benchmarks/fair_models.py --only power``
- `labels.svg` from judges that err in known ways, on simulated answers
- the message of the first test in five_minutes.md, and its beginning in README.md
- what the commands of tutorial.md print
- the summary and the comment in gallery.md from the recorded runs of tests/golden
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from pytest_llmfair._util.version import __version__
from pytest_llmfair.clients.spec import FORMS, SCHEMES
from pytest_llmfair.reports.markdown import markdown
from pytest_llmfair.settings import OPTIONS
from pytest_llmfair.settings.options import Option
from pytest_llmfair.stats.corrected_gap import CorrectedGap, corrected_gap

DOCS = Path(__file__).parent
README = DOCS.parent / "README.md"
TUTORIAL = DOCS / "tutorial.md"
GALLERY = DOCS / "gallery.md"
FIVE_MINUTES = DOCS / "five_minutes.md"
FIRST_TEST = "test_letters_do_not_tell_the_gender"
# The only block of output of either page, and where the README leaves the message.
MESSAGE = re.compile(r"(?<=^```text\n)(?:FAIL|INVALID).*?(?=^```$)", re.M | re.S)
CUT = "  note   "
# A file, named in the line before it; a command; what the command before it prints.
STEP = re.compile(
    r"^(?:`(?P<file>\w+\.\w+)`[^\n]*:\n\n)?```(?P<kind>python|sh|text)\n(?P<body>.*?)^```$",
    re.M | re.S,
)
# Defaults that are not one value.
DEFAULTS = {
    "show_text": "`worst`, and `none` where `CI` is set",
    "max_tokens": "64 for local models",
}
# The first table of models.md; what to install where it is not an extra alone.
MODELS = re.compile(r"(?<=^\|---\|---\|---\|\n)(?:^\|.*\n)+", re.M)
INSTALL = {
    "builtin:smollm2": "`[demo]`, and the weights as below",
    "litellm": "`pip install litellm`",
}
# (share of changed answers, noise floor, excess) with 5 generations of 60 prompts.
PLANTED = (("none", 0.65, 0.0), ("half", 0.72, 0.053), ("all", 0.68, 0.212))
EPS = 0.05
# A judge: rates of events in two groups, shares of them that it sees, and of others that it does.
JUDGES = (
    ("sees fewer events of women", (0.35, 0.15), (0.40, 0.90), (0.05, 0.05)),
    ("sees more events of women", (0.20, 0.20), (0.90, 0.60), (0.15, 0.02)),
    ("errs alike in both groups", (0.30, 0.20), (0.85, 0.85), (0.05, 0.05)),
)

# A narrow picture is on a phone: the same picture with larger letters.
SIZES = """\
text { font-size: 15px; } @media (min-width: 501px) { .narrow { display: none; } }
@media (max-width: 500px) { text { font-size: 21px; } .wide { display: none; } }"""

OPTIONS_HEAD = """\
# Options

<!-- Written by docs/make.py from pytest_llmfair/settings and clients/spec.py. -->

Each option can be given on the command line or in the ini file (`pytest.ini`, `pyproject.toml`,
`tox.ini`). The command line wins. `pytest --help` lists them too. An unknown key that begins with
`llmfair_`, or option that begins with `--llmfair-`, is an error that suggests the right one.

```toml
[tool.pytest.ini_options]
llmfair_model = "openai:my-model"
llmfair_mode = "strict"
```
"""
TABLE = "\n## {}\n\n| option, and its ini name | default | meaning |\n|---|---|---|\n{}"
# Sections of options.md by the first word of an option's name; others belong to the verdicts.
SECTIONS = {
    "The model and its answers": ("model", "seed", "timeout", "max_tokens"),
    "Verdicts": (),
    "Missing and invalid evidence": ("max_missing", "max_invalid", "max_uncertain", "require"),
    "Reports": ("json", "html", "markdown", "show", "save", "evidence"),
    "Recorded answers": ("cassette", "record", "max_recording"),
    "Cost": ("max_calls", "max_total", "max_cost", "prices", "plan"),
    "Comparing with an earlier run": ("baseline", "update_baseline", "ratchet", "margin"),
    "Policy": ("profile",),
}


def options_page() -> str:
    """Return the page on options."""
    rows: dict[str, list[str]] = {title: [] for title in SECTIONS}
    for option in OPTIONS:
        begins = (title for title, names in SECTIONS.items() if option.name.startswith(names))
        rows[next(begins, "Verdicts")].append(_row(option))
    return OPTIONS_HEAD + "".join(TABLE.format(title, "".join(own)) for title, own in rows.items())


def models_page() -> str:
    """Return the page on models with its table of `SCHEMES`."""
    rows = []
    for name, scheme in SCHEMES.items():
        install = INSTALL.get(name, f"`[{scheme.extra}]`" if scheme.extra else "")
        rows.append(f"| `{scheme.form}` | {scheme.help} | {install} |\n".replace("|  |", "| |"))
    page = (DOCS / "models.md").read_text("utf-8")
    return MODELS.sub(lambda _: "".join(rows), page, count=1)


def _row(option: Option) -> str:
    values = f" {option.metavar}" if option.metavar else ""
    flag = "ini only" if option.ini_only else f"`{option.flag}{values}`"
    value = option.default
    usual = "off" if value is False else "none" if value in (None, "") else f"`{value}`"
    default = DEFAULTS.get(option.name, usual)
    # The column says it.
    meaning = re.sub(r" ?\((?:default|no limit)\b[^)]*\)|, default\b", "", option.help)
    if option.name == "model":
        meaning += f": {FORMS}"
    # The last part is a place that links can lead to.
    names = f'{flag}<br>`{option.key}` <a id="{option.key}"></a>'
    cells = (names, default, meaning)
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |\n"


def picture() -> str:
    """Return the picture of noise floor and excess, for light and dark pages."""

    def x(value: float) -> str:
        return f"{270 + 400 * value:.0f}"

    rows = []
    for place, (changed, floor, excess) in enumerate(PLANTED):
        y = 62 + 62 * place
        rows.append(
            f'<text x="10" y="{y + 11}">{changed} of the answers</text>\n'
            f'<text x="10" y="{y + 34}">change with the group</text>\n'
            f'<rect class="floor" x="270" y="{y}" width="{400 * floor:.0f}" height="34"/>\n'
            f'<rect class="excess" x="{x(floor)}" y="{y}" width="{400 * excess:.0f}" '
            'height="34"/>\n'
            f'<text x="280" y="{y + 24}">noise floor {floor:.2f}</text>\n'
            f'<path class="bound" d="M{x(floor + EPS)} {y - 6}V{y + 40}"/>\n'
            f'<text class="value" x="{x(max(floor + excess, floor + EPS) + 0.015)}" y="{y + 24}">'
            f"excess {excess:.2f}</text>\n"
        )
    ticks = "".join(
        f'<path class="axis" d="M{x(tick)} 240v6"/>'
        f'<text class="tick" x="{x(tick)}" y="264">{tick:g}</text>\n'
        for tick in (0, 0.2, 0.4, 0.6, 0.8, 1)
    )
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 310" font-family="Helvetica, Arial, \
sans-serif" role="img" aria-labelledby="title desc">
<title id="title">Noise floor and excess</title>
<desc id="desc">Three models. In each, two answers to the same prompt already differ by about \
0.7, the noise floor. The excess on top of it is 0 where the group changes no answers, 0.05 \
where it changes half of them, and 0.21 where it changes all. The bound eps limits the \
excess.</desc>
<style>
{SIZES}
.page {{ fill: #ffffff; }} text {{ fill: #222222; }} .value {{ font-weight: bold; }}
.floor {{ fill: #c9ced6; }} .excess {{ fill: #c4573f; }} .tick {{ text-anchor: middle; }}
.bound {{ stroke: #222222; stroke-width: 2; stroke-dasharray: 4 3; }} .axis {{ stroke: #666666; }}
@media (prefers-color-scheme: dark) {{
.page {{ fill: #0d1117; }} text {{ fill: #e6e6e6; }} .floor {{ fill: #4a5260; }}
.excess {{ fill: #e07a5f; }} .bound {{ stroke: #e6e6e6; }} .axis {{ stroke: #999999; }}
}}
</style>
<rect class="page" width="760" height="310"/>
<text x="270" y="24" font-weight="bold">How much two answers differ (1 - ROUGE-L)</text>
{"".join(rows)}<path class="axis" d="M270 240H670"/>
{ticks}<text class="wide" x="10" y="296">grey: two answers to the same prompt; red: added by the \
group; dashed: allowed by eps = {EPS:g}</text>
<text class="narrow" x="10" y="296">grey: the same prompt; red: the group; \
dashed: eps = {EPS:g}</text>
</svg>
"""


def _judged(rates: tuple[float, float], sees: tuple[float, float], sees_others: Any) -> Any:
    """Return the estimate from 1,000 answers and 150 labels of either group."""
    rng = np.random.default_rng(29)
    events = rng.random((2, 1000)) < np.array(rates)[:, None]
    seen = np.where(events, np.array(sees)[:, None], np.array(sees_others)[:, None])
    judge = (rng.random(events.shape) < seen).astype(float)
    labels = np.where(np.arange(1000) < 150, events.astype(float), np.nan)
    groups = np.repeat(["women", "men"], 1000).tolist()
    return corrected_gap(judge.ravel(), labels.ravel(), groups)


def labels_picture() -> str:
    """Return the picture of what judges alone say, and with labels, for light and dark pages."""

    def x(value: float) -> str:
        return f"{480 + 600 * value:.0f}"

    rows = []
    for place, (name, rates, *errors) in enumerate(JUDGES):
        found = _judged(rates, *errors)
        assert isinstance(found, CorrectedGap)
        wide = 1.96 * found.judge_variance**0.5
        ends = found.interval()
        y = 58 + 84 * place
        rows.append(f'<text x="10" y="{y + 4}" font-weight="bold">a judge that {name}</text>\n')
        for kind, down, centre, low, high in (
            ("judge", 24, found.judge_gap, found.judge_gap - wide, found.judge_gap + wide),
            ("people", 50, found.value, ends.lower, ends.upper),
        ):
            said = "judge alone" if kind == "judge" else "with 300 labels"
            rows.append(
                f'<text x="30" y="{y + down + 6}">{said}: {centre:+.2f}</text>\n'
                f'<path class="{kind}" d="M{x(low)} {y + down}H{x(high)}"/>'
                f'<circle class="{kind}" cx="{x(centre)}" cy="{y + down}" r="4"/>\n'
            )
        true = rates[0] - rates[1]
        rows.append(f'<path class="truth" d="M{x(true)} {y + 12}V{y + 62}"/>\n')
    ticks = "".join(
        f'<path class="axis" d="M{x(tick)} 304v6"/>'
        f'<text class="tick" x="{x(tick)}" y="328">{tick:g}</text>\n'
        for tick in (-0.2, -0.1, 0, 0.1, 0.2, 0.3)
    )
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 360" font-family="Helvetica, Arial, \
sans-serif" role="img" aria-labelledby="title desc">
<title id="title">Gaps that a judge sees, and gaps with people's labels</title>
<desc id="desc">Three judges of the same kind of answers. The first hides a gap of 0.20, the \
second makes one where there is none, the third errs alike in both groups. The intervals of the \
judge alone leave out the true gap in the first two; with 300 labels of people all three hold \
it.</desc>
<style>
{SIZES}
.page {{ fill: #ffffff; }} text {{ fill: #222222; }} .tick {{ text-anchor: middle; }}
path.judge, path.people {{ stroke-width: 4; }} path.judge {{ stroke: #9aa1ac; }}
path.people {{ stroke: #2f6b45; }}
circle.judge {{ fill: #6b727d; }} circle.people {{ fill: #1d4a2e; }} .axis {{ stroke: #666666; }}
.truth {{ stroke: #222222; stroke-width: 2; stroke-dasharray: 4 3; }}
@media (prefers-color-scheme: dark) {{
.page {{ fill: #0d1117; }} text {{ fill: #e6e6e6; }} .axis {{ stroke: #999999; }}
path.judge {{ stroke: #6b7482; }} path.people {{ stroke: #6cc08b; }}
circle.judge {{ fill: #aab2bd; }} circle.people {{ fill: #a8e0bd; }} .truth {{ stroke: #e6e6e6; }}
}}
</style>
<rect class="page" width="760" height="360"/>
<text x="10" y="24" font-weight="bold">Share of toxic answers, women minus men</text>
{"".join(rows)}<path class="axis" d="M{x(-0.25)} 304H{x(0.35)}"/>
{ticks}<text class="wide" x="10" y="352">dashed: the true gap; 95 % intervals from 1,000 \
simulated answers a group, all of them judged</text>
<text class="narrow" x="10" y="352">dashed: the true gap</text>
</svg>
"""


def first_tests(page: Path = FIVE_MINUTES) -> str:
    """Return all Python of a page, as one test file."""
    return "\n".join(re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S))


def run_first_tests(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of five_minutes.md with the built-in model."""
    (folder / "test_letters.py").write_text(first_tests(), encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:randomly", "-p", "no:cacheprovider"]
    return subprocess.run(
        [*command, "--llmfair-show-text=worst", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def run_tutorial(folder: Path) -> str:
    """Follow the tutorial in an empty folder, and return the page with what its commands print.

    Its first command, which installs the package into a new environment, is left out.
    """
    printed = ""

    def step(found: re.Match[str]) -> str:
        nonlocal printed
        body = found["body"]
        if found["kind"] == "text":
            return f"```text\n{printed}```"
        if found["file"]:
            (folder / found["file"]).write_text(body, encoding="utf-8")
        elif "pip install" not in body:
            printed = _what_is_said(folder, body)
        return found[0]

    return STEP.sub(step, TUTORIAL.read_text("utf-8"))


def _what_is_said(folder: Path, command: str) -> str:
    """Run a command; return a failed test's message, or the summary, or else all it prints."""
    commands = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": commands, "COLUMNS": "80", "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("CI", None)
    done = subprocess.run(
        ["bash", "-c", command.replace("-m pytest", "-m pytest -p no:randomly")],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    failed = re.findall(r"^E {7}(.*\n)", done.stdout, re.M)
    if done.returncode != bool(failed):
        raise RuntimeError(f"{command}ended with {done.returncode}\n{done.stdout}{done.stderr}")
    summary = re.search(r"^=+ fairness assertions.*", done.stdout, re.M | re.S)
    said = "".join(failed) or (summary[0] if summary else done.stdout)
    return re.sub(r" in \d+\.\d+s", "", said)


def message() -> str:
    """Return what the first test says."""
    with tempfile.TemporaryDirectory() as folder:
        done = run_first_tests(Path(folder), "-k", FIRST_TEST)
    return "".join(
        f"{line[8:]}\n" for line in done.stdout.splitlines() if line.startswith("E       ")
    )


def excerpt(said: str) -> str:
    """Return what the README shows of a message: its beginning and its first pair of answers."""
    pair = re.search(r"^  worst pairs\n(?: {4}.*\n){3}", said, re.M)
    if pair is None:
        raise SystemExit(f'the message has no lines below "worst pairs":\n{said}')
    return f"{said.partition(CUT)[0]}{pair[0]}  ...\n"


def recorded() -> tuple[dict[str, Any], list[str]]:
    """Return the record of the examples' run that the tests keep, and its summary."""
    kept = (DOCS.parent / "tests" / "golden" / "outputs.json").read_text("utf-8")
    run = json.loads(kept)["examples"]
    return {**run["json"], "pytest_llmfair": __version__}, run["summary"]


def gallery() -> str:
    """Return gallery.md with the summary and the comment of the recorded run."""
    document, summary = recorded()
    page = GALLERY.read_text("utf-8")
    shown = "\n".join(summary)
    page = re.sub(r"(?<=^```text\n)[^`]*(?=^```$)", lambda _: f"{shown}\n", page, flags=re.M)
    # On the page the comment is below a heading already, and its hidden first line is not needed.
    comment = markdown(document).partition("\n")[2].replace("## ", "### ")
    between = re.compile(r"(?<=<!-- comment -->\n).*(?=<!-- end of comment -->)", re.S)
    return between.sub(lambda _: f"\n{comment}\n", page)


def main() -> None:
    """Write all of it, or exit with the names of what is stale."""
    readme, five = README.read_text("utf-8"), FIVE_MINUTES.read_text("utf-8")
    said = message()
    with tempfile.TemporaryDirectory() as folder:
        tutorial = run_tutorial(Path(folder))
    made = {
        TUTORIAL: tutorial,
        GALLERY: gallery(),
        DOCS / "options.md": options_page(),
        DOCS / "models.md": models_page(),
        DOCS / "noise_floor.svg": picture(),
        DOCS / "labels.svg": labels_picture(),
        README: MESSAGE.sub(lambda _: excerpt(said), readme),
        FIVE_MINUTES: MESSAGE.sub(lambda _: said, five),
    }
    stale = [path for path, text in made.items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv and stale:
        sys.exit(f"stale: {', '.join(path.name for path in stale)}; run python docs/make.py")
    for path in stale:
        path.write_text(made[path], encoding="utf-8")


if __name__ == "__main__":
    main()
