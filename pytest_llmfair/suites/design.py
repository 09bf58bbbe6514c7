"""The description of a suite, read from a YAML file of ``suites/data``."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from typing import Any

from pytest_llmfair._util.keywords import suggestion
from pytest_llmfair._util.located import shipped
from pytest_llmfair.judging.bound import Bound
from pytest_llmfair.metrics import get_metric

SIZES = ("smoke", "standard", "paper")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A metric of the package with its keywords."""

    # Its name in reports, such as "ruted_skew" or "rabbi@qualified".
    name: str
    metric: str
    keywords: Mapping[str, Any] = field(default_factory=dict)
    # Whether a bound may be given. Values that are only there to compare with papers take none.
    gates: bool = True
    # Whether a value is about the units alone, or about more like them.
    population: str = "sampled"


@dataclass(frozen=True, slots=True)
class Task:
    """One task of a suite."""

    name: str
    # What is asked and how it is read: one of the kinds in `pytest_llmfair.suites.kinds`.
    kind: str
    # Prompts with slots; the spread over them is reported.
    wordings: tuple[str, ...]
    quantities: tuple[Quantity, ...]
    # What a reader must not conclude; part of every result.
    note: str
    # Whether a bound may be given. The tests on probabilities of a single word take none.
    gates: bool = True
    max_tokens: int | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    # What can be measured on request.
    more: tuple[Quantity, ...] = ()


@dataclass(frozen=True, slots=True)
class Suite:
    """A published design as data.

    Attributes
    ----------
    name, about, paper : str
        Name, one line for lists, and the publication.
    tasks : tuple of Task
        What is asked.
    sizes : mapping
        Size ("smoke", "standard", "paper") to numbers that the kinds of tasks read.
    limits : tuple of str
        What a result does not say.
    data : mapping
        Content that the tasks share, such as jobs.
    prompts : tuple of str or None
        What is asked, for a suite that takes prompts of the user: by default examples of the
        package. None for a design with questions of its own.
    scorers : mapping
        Scorers by name, as scorers or specifications, before those of the package.
    source : mapping
        What the user brings in place of questions of the package: `holds` and `origin` in words,
        names of `files`, and a `package` that has them `inside`. Empty for other suites.
    items : tuple
        What the user has brought.

    Examples
    --------
    >>> suite = get_suite("ruted")
    >>> [task.name for task in suite.tasks][:3]
    ['stories', 'personas', 'exercises']
    """

    name: str
    about: str
    paper: str
    tasks: tuple[Task, ...]
    sizes: Mapping[str, Mapping[str, int]]
    limits: tuple[str, ...]
    data: Mapping[str, Any] = field(default_factory=dict)
    prompts: tuple[str, ...] | None = None
    scorers: Mapping[str, Any] = field(default_factory=dict)
    source: Mapping[str, Any] = field(default_factory=dict)
    items: tuple[Any, ...] = ()

    def size(self, name: str) -> Mapping[str, int]:
        """Return the numbers of a size; raise ``ValueError`` if there is no such size."""
        if name not in self.sizes:
            raise ValueError(f"size is {name!r}; choose {', '.join(self.sizes)}")
        return self.sizes[name]

    def over(self, population: str | None) -> Suite:
        """Return the suite with another population of every metric; as it is without one."""

        def changed(task: Task) -> Task:
            own = (replace(q, population=population or q.population) for q in task.quantities)
            return replace(task, quantities=tuple(own))

        return replace(self, tasks=tuple(map(changed, self.tasks)))

    def measuring(self, metrics: Sequence[str] | None) -> Suite:
        """Return the suite with metrics of these names, or ``["all"]`` that it has.

        A task that has none of them keeps its own; ``ValueError`` if no task has one.
        """
        if not metrics:
            return self
        tasks: list[Task] = []
        used: set[str] = set()
        for task in self.tasks:
            known = (*task.quantities, *task.more)
            chosen = [q for q in known if "all" in metrics or {q.name, q.metric} & set(metrics)]
            used.update(name for q in chosen for name in (q.name, q.metric))
            tasks.append(replace(task, quantities=tuple(chosen) or task.quantities))
        for name in metrics:
            if name not in used | {"all"}:
                names = dict.fromkeys(q.name for t in self.tasks for q in (*t.quantities, *t.more))
                raise ValueError(
                    f"{self.name} has no metric {name!r}; choose all, or of {', '.join(names)}"
                )
        return replace(self, tasks=tuple(tasks))

    def bounds(
        self, given: Mapping[str, float] | None, tasks: Sequence[str] | None = None
    ) -> dict[tuple[str, str], float]:
        """Return the bounds given by METRIC or TASK.METRIC, by task and quantity.

        ``ValueError`` if a key fits no task, only tasks that may have no bound, or only tasks that
        are not asked, or if no data could fail the bound.
        """
        found: dict[tuple[str, str], float] = {}
        # A bound for one task replaces that for all, and "rabbi@qualified" that for "rabbi".
        for key, bound in sorted(
            (given or {}).items(), key=lambda item: ("." in item[0], "@" in item[0])
        ):
            hits = [
                (task, quantity)
                for task in self.tasks
                for quantity in task.quantities
                if _fits(key, task, quantity)
            ]
            if not hits:
                raise ValueError(self._no_metric(key))
            gates = {(task.name, q.name): q for task, q in hits if task.gates and q.gates}
            if not gates:
                task, quantity = hits[0]
                why = task.note if quantity.gates else "it grows with the number of groups"
                raise ValueError(f"{key!r} of {self.name} takes no bound: {why}")
            asked = {key: q for key, q in gates.items() if key[0] in (tasks or self._names)}
            if not asked:
                named = ", ".join(dict.fromkeys(task for task, _ in gates))
                raise ValueError(
                    f"{key!r} bounds a task that is not asked; ask {named} too, or leave out the "
                    "bound"
                )
            for place, quantity in asked.items():
                found[place] = _checked(bound, quantity, key)
        return found

    def _no_metric(self, key: str) -> str:
        """Return the remedy for a bound that fits no metric of a task."""
        name = key.rpartition(".")[2]
        tasks = [task for task in self.tasks if task.gates]
        known = {q.name: q.metric for task in tasks for q in task.quantities if q.gates}
        aliases = [alias for metric in known.values() for alias in get_metric(metric).aliases]
        close = difflib.get_close_matches(name, [*known, *aliases], 1)
        hint = f"did you mean {close[0]}? Choose" if close else "choose"
        if any(_fits(key, task, each) for task in self.tasks for each in task.more):
            hint = f"it is measured with --metrics {name}; {hint}"
        here = "" if self.prompts is None else " with these prompts"
        return (
            f"{self.name} has no {key!r} to put a bound on{here}; {hint} {', '.join(known)}, or "
            f"TASK.METRIC with the tasks {', '.join(self._names)}"
        )

    @property
    def _names(self) -> list[str]:
        return [task.name for task in self.tasks]


def _checked(bound: float, quantity: Quantity, key: str) -> float:
    """Return a bound; raise ``ValueError`` if no data could fail it."""
    info = get_metric(quantity.metric)
    return Bound.checked(
        bound, info.direction, info.fair_value, info.bounds, key, info.scale
    ).value


def _fits(key: str, task: Task, quantity: Quantity) -> bool:
    place, _, name = key.rpartition(".")
    names = {quantity.name, quantity.metric, *get_metric(quantity.metric).aliases}
    return place in ("", task.name) and name in names


def all_suites() -> dict[str, Suite]:
    """Return the suites of the package by name.

    Examples
    --------
    >>> "ruted" in all_suites()
    True
    """
    folder = resources.files("pytest_llmfair.suites").joinpath("data")
    files = sorted(file.name for file in folder.iterdir() if file.name.endswith(".yaml"))
    suites = [_read(shipped(f"suites/data/{file}")) for file in files]
    return {suite.name: suite for suite in suites}


def get_suite(name: str) -> Suite:
    """Return a suite by its name.

    Parameters
    ----------
    name : str

    Raises
    ------
    ValueError
        If there is none; the message names the suites.

    Examples
    --------
    >>> get_suite("ruted").about
    'gender of people in stories, personas and exercises about occupations'
    """
    suites = all_suites()
    if name not in suites:
        raise ValueError(f"there is no suite {name!r}; {suggestion(name, list(suites))}")
    return suites[name]


def _read(entry: Mapping[str, Any]) -> Suite:
    """Read a suite of the package, whose files the tests check."""
    return Suite(
        name=entry["name"],
        about=entry["about"],
        paper=entry["paper"],
        tasks=tuple(map(_task, entry["tasks"])),
        sizes={size: entry["sizes"][size] for size in SIZES},
        limits=tuple(entry["limits"]),
        data=entry.get("data", {}),
        prompts=tuple(entry["prompts"]) if "prompts" in entry else None,
        source=entry.get("source", {}),
    )


def _task(entry: Mapping[str, Any]) -> Task:
    return Task(
        name=entry["name"],
        kind=entry["kind"],
        wordings=tuple(text.rstrip("\n") for text in entry["wordings"]),
        quantities=tuple(_quantities(entry["metrics"])),
        note=entry["note"],
        gates=entry.get("gates", True),
        max_tokens=entry.get("max_tokens"),
        data=entry.get("data", {}),
        more=tuple(_quantities(entry.get("more_metrics", ()))),
    )


def _quantities(entries: Sequence[Any]) -> Iterator[Quantity]:
    """Yield metrics; `each_k` and `each_class` stand for one with each of some values."""
    for each in entries:
        if isinstance(each, list):
            # Metrics that tasks share.
            yield from _quantities(each)
            continue
        keywords = {} if isinstance(each, str) else dict(each)
        metric = each if isinstance(each, str) else keywords.pop("metric")
        gates = keywords.pop("gates", True)
        usual = "fixed" if get_metric(metric).family == "ruted" else "sampled"
        population = keywords.pop("population", usual)
        variants = {f"k={k}": {"k": k} for k in keywords.pop("each_k", ())}
        variants |= {name: {"positive": name} for name in keywords.pop("each_class", ())}
        made = Quantity(keywords.pop("name", metric), metric, keywords, gates, population)
        for variant, own in variants.items():
            yield replace(made, name=f"{metric}@{variant}", keywords={**keywords, **own})
        if not variants:
            yield made
