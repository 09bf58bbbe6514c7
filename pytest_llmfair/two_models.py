"""Two models measured by one metric on the same prompts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_llmfair.arguments import check_units
from pytest_llmfair.checks import whole
from pytest_llmfair.collecting import collect, measurable, prompts_or_pairs
from pytest_llmfair.comparing import compare_of
from pytest_llmfair.evidence import Evidence, usable
from pytest_llmfair.gating import gated
from pytest_llmfair.judging import TextScorer, measured
from pytest_llmfair.metrics import MetricInfo
from pytest_llmfair.pairing import is_pair
from pytest_llmfair.responses import PairedResponses, Responses
from pytest_llmfair.results import Result
from pytest_llmfair.rules import Judging, current_settings
from pytest_llmfair.stats import Estimate

Answers = Responses | PairedResponses
Groups = tuple[str, ...]

NAMES = ("candidate", "baseline")
_ANSWERS = (Responses, PairedResponses)


def measured_alike(
    info: MetricInfo,
    items: Sequence[Any],
    models: Sequence[Any],
    generations: int | None,
    judging: Judging,
    scorer: Any,
    keywords: Mapping[str, Any],
    form: str,
) -> tuple[list[tuple[Evidence, Estimate]], Callable[[Groups], list[Evidence]]]:
    """Measure both models on the prompts that both answered.

    Also return what gives the evidence for two of several groups. `form` is the call that errors
    show.
    """
    for name, model in zip(NAMES, models, strict=True):
        if not is_model(model):
            raise TypeError(
                f"{name} is a {type(model).__name__}; give two clients, functions of a prompt, "
                "answers, or model specifications such as 'responses:old.jsonl' (or two "
                f"estimates, or two results): {form}"
            )
    known = next((each for each in models if isinstance(each, _ANSWERS)), None)
    if items and isinstance(items[0], _ANSWERS):
        raise TypeError(f"give answers as candidate= and baseline=: {form}")
    if not items and known is None:
        raise TypeError(f"assert_not_worse() needs the prompts or pairs to ask: {form}")
    asked, units = gated(items[0] if items else _asked(known), keywords.get("units"))
    n = info.generations if generations is None else whole(generations, "generations")
    measurable(info, pairs=is_pair(prompts_or_pairs(asked)[0]))
    check_units(units, asked)
    answers = [
        gated(each)[0] if isinstance(each, _ANSWERS) else collect(asked, each, n, placebo=False)
        for each in map(_client, models)
    ]
    for name, each in zip(NAMES, answers, strict=True):
        check_same(name, asked, _asked(each))

    def measure(answers: Answers, units: Any, **chosen: Any) -> tuple[Evidence, Estimate]:
        given = {**info.judged_with, **keywords}
        given.pop("units", None)
        compare = replace(compare_of(info, answers, given), **chosen)
        text_scorer = TextScorer(info, scorer)
        return measured(
            info,
            (answers,),
            judging,
            scorer=text_scorer,
            keywords=given,
            compare=compare,
            units=units,
            source=answers,
        )

    found = [measure(each, units) for each in answers]
    kept = [
        row
        for row in range(len(asked))
        if all(_answered(each[row], info.whole_rows) for each in answers)
    ]
    if 0 < len(kept) < len(asked):
        # Missing answers are counted over all prompts, and values compared on those of both.
        answers = [_rows(each, kept) for each in answers]
        units = units and [list(units)[row] for row in kept]
        lost = f"{len(asked) - len(kept)} of {len(asked)} prompts or pairs left out"
        for i, (before, _) in enumerate(found):
            found[i] = own, _ = measure(answers[i], units)
            own.notes.append(f"{lost}: an answer of one of the models is missing")
            own.missing, own.invalid = before.missing, before.invalid
            own.cut, own.origin = before.cut, before.origin
    return found, lambda groups: [measure(a, units, groups=groups)[0] for a in answers]


def is_model(given: Any) -> bool:
    """Tell whether this is something to ask, or its answers."""
    named = isinstance(given, (*_ANSWERS, str, Path))
    asked = any(callable(getattr(given, way, None)) for way in ("generate", "ainvoke"))
    return not isinstance(given, (Estimate, Result)) and (named or asked or callable(given))


def _client(model: Any) -> Any:
    if not isinstance(model, (str, Path)):
        return model
    from pytest_llmfair.clients import load_client

    settings = current_settings()
    spec = f"responses:{model}" if isinstance(model, Path) else model
    return load_client(spec, seed=settings.seed, max_tokens=settings.max_tokens)


def _asked(answers: Any) -> Sequence[Any]:
    return list(answers.pairs if isinstance(answers, PairedResponses) else answers.prompts)


def check_same(name: str, asked: Sequence[Any], answered: Sequence[Any]) -> None:
    """Raise ``ValueError`` unless a model answered the prompts or pairs asked for."""

    def texts(items: Sequence[Any]) -> list[Any]:
        return [(x.original, x.counterfactual) if is_pair(x) else x for x in items]

    if (wanted := texts(asked)) != (given := texts(answered)):
        lacking = [text for text in wanted if text not in given]
        example = f"; it lacks {str(lacking[0])[:80]!r}" if lacking else ""
        raise ValueError(
            f"the {name} answered {len(given)} prompts or pairs, other than the {len(wanted)} "
            f"asked for{example}; ask both models the same, in the same order"
        )


def _rows(answers: Answers, kept: Sequence[int]) -> Answers:
    def take(rows: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(rows[row] for row in kept)

    if isinstance(answers, Responses):
        return replace(answers, prompts=take(answers.prompts), answers=take(answers.answers))
    return replace(
        answers,
        pairs=take(answers.pairs),
        original=take(answers.original),
        counterfactual=take(answers.counterfactual),
        placebo=(),
    )


def _answered(row: Sequence[Any], complete: bool) -> bool:
    sides = row if row and isinstance(row[0], (tuple, list)) else (row,)
    return all(usable(side, complete) for side in sides)
