"""The five fixtures; each can be overridden in a `conftest.py`. PYTEST_DONT_REWRITE."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmfair import recording

if TYPE_CHECKING:
    from pytest_llmfair.clients import ModelClient
    from pytest_llmfair.counterfactuals import Lexicon, Pair
    from pytest_llmfair.fairness import Fairness


@pytest.fixture(scope="session")
def model_client() -> ModelClient:
    """Return the model under test, chosen with ``--llmfair-model`` or ``llmfair_model``."""
    from pytest_llmfair.clients import load_client

    settings = _recorder().settings
    return load_client(settings.model, seed=settings.seed, max_tokens=settings.max_tokens)


@pytest.fixture(scope="session")
def counterfactual_pairs(
    request: pytest.FixtureRequest, lexicons: Mapping[str, Lexicon]
) -> Callable[..., list[Pair]]:
    """Return the pair generator: prompts, or a file with one prompt per line, to pairs."""
    from pytest_llmfair.counterfactuals import generate_pairs

    def pairs(
        prompts: Sequence[str] | str | Path,
        attribute: str | Lexicon = "gender",
        groups: tuple[str, str] | None = None,
    ) -> list[Pair]:
        """Return the counterfactual pairs of prompts.

        Parameters
        ----------
        prompts : list of str, or str or Path
            Texts; or a file with one prompt per line, looked up in the folder of the test's file
            and then in the root folder of the session.
        attribute : str or Lexicon
            Protected attribute: the name of a lexicon of the fixture `lexicons`, or a lexicon.
        groups : (str, str), optional
            From and to, as in :func:`pytest_llmfair.counterfactuals.generate_pairs`.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If there is no prompt, or none mentions the attribute.
        """
        if isinstance(prompts, (str, Path)):
            prompts = _prompts_of(_found(prompts, request.config.rootpath))
        lexicon = lexicons.get(attribute, attribute) if isinstance(attribute, str) else attribute
        made = generate_pairs(prompts, attribute=lexicon, groups=groups)
        if not made:
            raise ValueError(
                f"none of the {len(prompts)} prompts makes a pair: no mention of "
                f"{attribute if isinstance(attribute, str) else attribute.name} that could be "
                "exchanged; name a group in the prompts"
            )
        return made

    return pairs


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


def _prompts_of(path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 (byte {error.start}); save it as UTF-8") from None
    prompts = [line.strip() for line in lines if line.strip()]
    if not prompts:
        raise ValueError(f"{path} has no prompt; write one per line")
    return prompts
