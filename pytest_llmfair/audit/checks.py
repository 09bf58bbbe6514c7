"""Checks of an audit: those of a file, judged on the audit's answers by pytest."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from pytest_llmfair.audit.loading import Audited, load
from pytest_llmfair.audit.plan import Plan
from pytest_llmfair.audit.work import REDUCED, SCORES
from pytest_llmfair.gate.check import INVARIANCE, UNAWARENESS, Check, Checks
from pytest_llmfair.gate.check_file import read_checks
from pytest_llmfair.gate.yaml_checks import GivenChecks, run_pytest
from pytest_llmfair.judging.collecting import check_data_kind
from pytest_llmfair.lexicons.attributes import lexicon_for
from pytest_llmfair.lexicons.lexicon import Lexicon
from pytest_llmfair.metrics import get_metric
from pytest_llmfair.scorers import load_scorers

# Stands for the prompts of an audit while a file of checks is read.
_OF_THE_AUDIT = ["The prompts of the audit."]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditCheck(Check):
    """A check of the answers of an audit."""

    audited: Callable[[], Audited]
    # What judges the same answers again: pytest alone would ask a model.
    rerun: str

    def run(self, **given: Any) -> Any:
        """Judge by the assertion that a test would call, with the audit in the model's place."""
        __tracebackhide__ = True
        if self.prompts is not _OF_THE_AUDIT:
            return super(AuditCheck, self).run(**given)
        audited = self.audited()
        audited.note_model()
        audited.use_scores()
        paired = audited.plan.attribute and self.metric != UNAWARENESS
        prompts: Any = audited.pairs if paired else audited.prompts
        # The pairs of an audit have their attribute; which words a prompt may not name is asked
        # of the check.
        kept = self.attribute if self.metric == UNAWARENESS else None
        found = replace(self, prompts=prompts, attribute=kept)
        return super(AuditCheck, found).run(**{**given, "client": lambda: audited})


def read_audit_checks(path: Path, plan: Plan, folder: Path) -> Checks:
    """Return checks whose data are those of the audit; raise for one it cannot answer."""
    held = read_checks(path, _OF_THE_AUDIT)
    audited = functools.cache(lambda: load(folder))
    again = ["llmfair", "audit", "--out", str(folder), "--checks", held.source]
    found = []
    for check in held.checks:
        own = {each.name: getattr(check, each.name) for each in fields(check)}
        # pytest takes no spaces in a name, as those of two attributes have.
        own["rerun"] = shlex.join([*again, "-k", check.name.replace(" ", " and ")])
        if check.data is None:
            try:
                _check_fits(check, plan)
            except ValueError as error:
                raise ValueError(f"{path.name}:{check.line}: {check.name}: {error}") from None
            if check.metric != UNAWARENESS:
                own["keywords"] = {"generations": plan.generations, **check.keywords}
        found.append(AuditCheck(**own, audited=audited))
    return replace(held, checks=tuple(found))


def _check_fits(check: Check, plan: Plan) -> None:
    if check.prompts is not _OF_THE_AUDIT:
        raise ValueError("it has prompts of its own; leave them out, the audit has prompts")
    if check.model not in (None, plan.model):
        raise ValueError(f"its model is {check.model}, and the audit asked {plan.model}")
    if check.metric == UNAWARENESS:
        return
    if check.attribute is not None:
        named, groups = check.attribute.name.replace(" x ", ","), check.attribute.exchanged
        if named != plan.attribute:
            raise ValueError(
                f"its attribute is {named}, and the audit has answers for "
                f"{plan.attribute or 'prompts without an exchange of groups'}; audit again with "
                f"--attribute {named}"
            )
        words = check.attribute.lexicon
        if any(isinstance(each, Lexicon) for each in (words if type(words) is tuple else [words])):
            raise ValueError("it has a lexicon of its own, and audits use those of the package")
        if groups and set(groups) != _exchanged(plan):
            raise ValueError(
                f"it exchanges {' and '.join(groups)}, and the audit "
                f"{' and '.join(plan.groups) or 'all groups'}; audit again with --groups "
                f"{','.join(groups)}"
            )
    if check.metric != INVARIANCE:
        check_data_kind(get_metric(check.metric), pairs=bool(plan.attribute))
    if (generations := check.keywords.get("generations", 0)) > plan.generations:
        raise ValueError(
            f"generations is {generations}, and the audit has {plan.generations} answers to each "
            "prompt; audit again with more --generations"
        )
    if check.keywords.get("baseline") == "placebo" and not plan.placebo:
        raise ValueError(
            "its baseline is placebo, and the audit has no placebo twins; audit again with "
            "--placebo"
        )
    for keyword in {"sequential", "looks"}.intersection(check.keywords):
        raise ValueError(f"{keyword} stops asking early, and an audit has asked everything")


def _exchanged(plan: Plan) -> set[str]:
    """Return the groups of an audit by their labels."""
    if not plan.groups:
        return set()
    return set(map(lexicon_for(plan.lexicon, plan.groups).group, plan.groups))


def phases_of(checks: Checks, plan: Plan) -> list[str]:
    """Return the phases that make scores and numbers of pairs from the answers for checks."""
    # A pair with one answer a side is compared as fast as its comparison is looked up.
    several = plan.generations > 1
    found: dict[str, None] = {}
    for check in checks.checks:
        named = check.keywords.get("scorer")
        if named is None and check.metric == INVARIANCE:
            named = check.keywords.get("metric")
        elif named is None and check.metric != UNAWARENESS and check.data is None:
            info = get_metric(check.metric)
            named = info.scorer if info.needs in ("scores", "score_pairs") else None
            if (
                several
                and info.reduce is not None
                and check.keywords.get("mask", "attribute") == "attribute"
            ):
                found[f"{REDUCED}{info.name}"] = None
        if isinstance(named, str) and named in load_scorers():
            found[f"{SCORES}{named}"] = None
    return list(found)


def judge(path: Path, plan: Plan, folder: Path, options: list[str]) -> int:
    """Judge a file of checks with pytest, and return its exit status."""
    path = path.resolve()
    plugin = GivenChecks(path, lambda: read_audit_checks(path, plan, folder))
    asked = ["--llmfair-model", plan.model, "--llmfair-seed", str(plan.seed)]
    return run_pytest([*asked, *options, str(path)], plugin)
