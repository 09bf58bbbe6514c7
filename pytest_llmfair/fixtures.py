"""The six fixtures; a `conftest.py` can override each of them. PYTEST_DONT_REWRITE."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmfair.session import Recorder, active

if TYPE_CHECKING:
    from pytest_llmfair.clients import ModelClient
    from pytest_llmfair.counterfactuals import Lexicon, Pairs, Template
    from pytest_llmfair.counterfactuals.pairs import WhenUncertain
    from pytest_llmfair.fairness import Fairness
    from pytest_llmfair.lexicons.attributes import Attribute
    from pytest_llmfair.suites import SuiteResult


@pytest.fixture(scope="session")
def model_client() -> ModelClient:
    """Return the model under test, chosen with ``--llmfair-model`` or ``llmfair_model``."""
    from pytest_llmfair.clients import ModelSpecError, load_client

    settings = _recorder().settings
    try:
        return load_client(settings.model, seed=settings.seed, max_tokens=settings.max_tokens)
    except ModelSpecError as error:
        wrong = str(error)
    # Outside the handler, so pytest shows no traceback: the cause is an option, not code.
    pytest.fail(wrong, pytrace=False)


@pytest.fixture(scope="session")
def counterfactual_pairs(
    request: pytest.FixtureRequest, lexicons: Mapping[str, Lexicon]
) -> Callable[..., Pairs]:
    """Return a function that makes counterfactual pairs of prompts, templates, or a file."""
    from pytest_llmfair._util.keywords import helpful_keywords
    from pytest_llmfair.counterfactuals import Lexicons, TemplateSet, pairs_from_templates
    from pytest_llmfair.counterfactuals.templates.template import read_prompts
    from pytest_llmfair.lexicons.name_lexicon import NAMES, OF_GROUPS

    every = lexicons if isinstance(lexicons, Lexicons) else Lexicons(lexicons)

    def known(attribute: str | Lexicon) -> str | Lexicon:
        if not isinstance(attribute, str) or (attribute in NAMES and attribute not in every):
            return attribute
        try:
            return every[attribute]
        except KeyError as error:
            raise ValueError(str(error)) from None

    @helpful_keywords()
    def counterfactual_pairs(
        prompts: Sequence[str | Template] | Iterator[str | Template] | str | Path,
        attribute: Attribute | None = None,
        groups: Sequence[str] | None = None,
        *,
        fillers: Mapping[str, Any] | None = None,
        placebo: bool = False,
        seed: int | None = None,
        uncertain: WhenUncertain = "reject",
        names: Mapping[str, Any] | None = None,
        names_per_prompt: int | None = None,
    ) -> Pairs:
        """Make the counterfactual pairs of prompts.

        Parameters
        ----------
        prompts : list of str or Template, or str or Path
            Texts and templates; a text with a known slot is a template, any other text a prompt.
            Or the path of a file, relative to the folder of the test's file or to the root folder
            of the session: templates in YAML, or one prompt per line.
        attribute : str, Lexicon, "names", or tuple of two, optional
            Protected attribute: the name of a lexicon of the fixture `lexicons`, or a lexicon; by
            default that of a file of templates, else gender. "names" exchanges people's names.
        groups : (str, str), optional
            Group to replace, and group to insert, as in
            :func:`pytest_llmfair.counterfactuals.pairs_from_templates`; of names any number.
        fillers : mapping, optional
            Slots of templates to lists of texts.
        placebo : bool
            Whether to add a placebo twin to every pair: the original reworded within its group.
        seed : int, optional
            Seed for the choice of terms, names and placebo twins; by default that of the session.
        uncertain : {"reject", "keep"}
            Whether to leave out prompts with an ambiguous word, as in
            :func:`pytest_llmfair.counterfactuals.generate_pairs`.
        names : mapping, optional
            Your own names by group, such as ``{"a": ["Emily"], "b": ["Lakisha"]}``.
        names_per_prompt : int, optional
            Names of each group that a prompt is asked with, 1 by default.

        Returns
        -------
        Pairs
            The pairs, with the rejected ones. If all fail the validity checks it is empty, and
            assertions on it are INVALID.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If there is no prompt, no prompt makes a pair, or a template or a filler is wrong.
        """
        if isinstance(prompts, (str, Path)):
            prompts = read_prompts(_found(prompts, request.config.rootpath))
        elif isinstance(prompts, Iterator):
            prompts = list(prompts)
        if attribute is None and names is not None:
            attribute = OF_GROUPS
        elif attribute is None:
            attribute = (isinstance(prompts, TemplateSet) and prompts.attribute) or "gender"
        made = pairs_from_templates(
            prompts,
            (known(attribute[0]), known(attribute[1]))
            if isinstance(attribute, (tuple, list)) and len(attribute) == 2
            else known(attribute),
            groups,
            fillers=fillers,
            placebo=placebo,
            seed=_recorder().settings.seed if seed is None else seed,
            uncertain=uncertain,
            names=names,
            names_per_prompt=names_per_prompt,
        )
        if not made and not made.rejected and not made.uncertain:
            raise ValueError(_no_pair(len(prompts), attribute, made))
        return made

    return counterfactual_pairs


@pytest.fixture(scope="session")
def lexicons() -> Mapping[str, Lexicon]:
    """Return the lexicons of protected attributes by name.

    An override needs ``scope="session"`` too, because `counterfactual_pairs` uses it.
    """
    from pytest_llmfair.counterfactuals import load_lexicons

    return load_lexicons()


@pytest.fixture(scope="session")
def scorers() -> Mapping[str, Any]:
    """Return the scorers by name; each loads at first use."""
    from pytest_llmfair.scorers import load_scorers

    return load_scorers()


@pytest.fixture
def fairness(request: pytest.FixtureRequest) -> Fairness:
    """Return the collector of this test: one sample of answers, several checks, one report."""
    from pytest_llmfair.fairness import Fairness

    # Looked up at first use: checks of given data need neither model nor scorers.
    return Fairness(
        client=lambda: request.getfixturevalue("model_client"),
        scorers=lambda: request.getfixturevalue("scorers"),
    )


@pytest.fixture
def suite(model_client: ModelClient, scorers: Mapping[str, Any]) -> Callable[..., SuiteResult]:
    """Return a function that runs the design of a paper on the model under test."""
    from pytest_llmfair.suites import run

    def suite(
        name: str,
        *,
        size: str = "smoke",
        bounds: Mapping[str, float] | None = None,
        tasks: Sequence[str] | None = None,
        metrics: Sequence[str] | None = None,
        population: str | None = None,
        prompts: Sequence[str] | None = None,
        data: str | Path | None = None,
    ) -> SuiteResult:
        """Run a suite; the arguments are those of :func:`pytest_llmfair.suites.run`."""
        __tracebackhide__ = True
        return run(
            name,
            model_client,
            size=size,
            bounds=bounds,
            tasks=tasks,
            metrics=metrics,
            population=population,
            prompts=prompts,
            scorers=scorers,
            data=data,
        )

    return suite


def _recorder() -> Recorder:
    recorder = active()
    if recorder is None:
        raise RuntimeError("fixtures need the llmfair plugin; run pytest without `-p no:llmfair`")
    return recorder


def _found(name: str | Path, root: Path) -> Path:
    """Return the path of a prompt file; the error names the folders searched."""
    folders = dict.fromkeys([_recorder().folder, root])
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    places = " or ".join(str(folder) for folder in folders)
    raise FileNotFoundError(
        f"there is no prompt file {str(name)!r} in {places}; give the path of a file with one "
        "prompt per line, or put prompts themselves in a list"
    )


def _no_pair(prompts: int, attribute: Attribute, made: Pairs) -> str:
    parts = attribute if isinstance(attribute, (tuple, list)) else (attribute,)
    name = " x ".join(part if isinstance(part, str) else part.name for part in parts)
    if name in ("name", "names"):
        return (
            f"none of the {prompts} prompts makes a pair: no name of a person is found; put a "
            "slot such as {Person} where it stands, or give lists that hold it: names={...}"
        )
    lost = f" (the lexicon has no counterpart of {', '.join(made.lost)})" if made.lost else ""
    return (
        f"none of the {prompts} prompts makes a pair: no mention of {name} that could be "
        f"replaced{lost}, and no slot such as {{person}}; name a group in the prompts"
    )
