"""The five fixtures; each can be overridden in a `conftest.py`. PYTEST_DONT_REWRITE."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmfair import session as recording

if TYPE_CHECKING:
    from pytest_llmfair.clients import ModelClient
    from pytest_llmfair.counterfactuals import Lexicon, Pairs, Template
    from pytest_llmfair.counterfactuals.pairs import WhenUncertain
    from pytest_llmfair.fairness import Fairness
    from pytest_llmfair.lexicons.attributes import Attribute


@pytest.fixture(scope="session")
def model_client() -> ModelClient:
    """Return the model under test, chosen with ``--llmfair-model`` or ``llmfair_model``."""
    from pytest_llmfair.clients import ModelSpecError, load_client

    settings = _recorder().settings
    try:
        return load_client(settings.model, seed=settings.seed, max_tokens=settings.max_tokens)
    except ModelSpecError as error:
        wrong = str(error)
    # Not in the handler: the cause is an option, and no line of code to be shown.
    pytest.fail(wrong, pytrace=False)


@pytest.fixture(scope="session")
def counterfactual_pairs(
    request: pytest.FixtureRequest, lexicons: Mapping[str, Lexicon]
) -> Callable[..., Pairs]:
    """Return the pair generator: prompts, templates, or a file of them, to pairs."""
    from pytest_llmfair._util.keywords import helpful_keywords
    from pytest_llmfair.counterfactuals import Lexicons, TemplateSet, pairs_from_templates

    every = lexicons if isinstance(lexicons, Lexicons) else Lexicons(lexicons)

    def known(attribute: str | Lexicon) -> str | Lexicon:
        if not isinstance(attribute, str) or attribute == "name":
            return attribute
        try:
            return every[attribute]
        except KeyError as error:
            raise ValueError(str(error)) from None

    @helpful_keywords()
    def counterfactual_pairs(
        prompts: Sequence[str | Template] | Iterator[str | Template] | str | Path,
        attribute: Attribute | None = None,
        groups: tuple[str, str] | None = None,
        *,
        fillers: Mapping[str, Any] | None = None,
        placebo: bool = False,
        seed: int | None = None,
        uncertain: WhenUncertain = "reject",
    ) -> Pairs:
        """Return the counterfactual pairs of prompts.

        Parameters
        ----------
        prompts : list of str or Template, or str or Path
            Texts and templates: a text with a slot that is known is a template, any other is a
            prompt as it stands. Or a file, looked up in the folder of the test's file and then in
            the root folder of the session: of templates in YAML, else with one prompt per line.
        attribute : str, Lexicon, "name", or tuple of two, optional
            Protected attribute: the name of a lexicon of the fixture `lexicons`, or a lexicon; by
            default that of a file of templates, else gender.
        groups : (str, str), optional
            From and to, as in :func:`pytest_llmfair.counterfactuals.pairs_from_templates`.
        fillers : mapping, optional
            Slot of a template to a list of texts.
        placebo : bool
            Whether to give every pair a placebo twin: the original reworded within its own group.
        seed : int, optional
            Of terms, names and placebo twins; by default the seed of the session.
        uncertain : {"reject", "keep"}
            What becomes of prompts in which a word can be read in two ways, as in
            :func:`pytest_llmfair.counterfactuals.generate_pairs`.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If there is no prompt, none makes a pair, or a template or a filler is wrong. Where
            pairs are made and all fail the checks, the set is empty, and assertions say INVALID.
        """
        if isinstance(prompts, (str, Path)):
            prompts = _prompts_of(_found(prompts, request.config.rootpath))
        elif isinstance(prompts, Iterator):
            prompts = list(prompts)
        if attribute is None:
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
        )
        if not made and not made.rejected and not made.uncertain:
            raise ValueError(_no_pair(len(prompts), attribute, made))
        return made

    return counterfactual_pairs


@pytest.fixture(scope="session")
def lexicons() -> Mapping[str, Lexicon]:
    """Return the lexicons of protected attributes by name.

    Another one in a `conftest.py` needs ``scope="session"`` too: `counterfactual_pairs` uses it.
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

    # Looked up late: checks on data of the test's own need neither model nor scorers.
    return Fairness(
        client=lambda: request.getfixturevalue("model_client"),
        scorers=lambda: request.getfixturevalue("scorers"),
    )


def _recorder() -> recording.Recorder:
    recorder = recording.active()
    if recorder is None:
        raise RuntimeError("fixtures need the llmfair plugin; run pytest without `-p no:llmfair`")
    return recorder


def _found(name: str | Path, root: Path) -> Path:
    """Return the file that a test means, or say where it was looked for."""
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
    lost = f" (no counterpart is listed of {', '.join(made.lost)})" if made.lost else ""
    return (
        f"none of the {prompts} prompts makes a pair: no mention of {name} that could be "
        f"exchanged{lost}, and no slot such as {{person}}; name a group in the prompts"
    )


def _prompts_of(path: Path) -> Sequence[str | Template]:
    if path.suffix in (".yaml", ".yml"):
        from pytest_llmfair.counterfactuals import load_templates

        return load_templates(path)
    from pytest_llmfair._util.validation import read_utf8

    prompts = [line.strip() for line in read_utf8(path).splitlines() if line.strip()]
    if not prompts:
        raise ValueError(f"{path} has no prompt; write one per line")
    return prompts
