"""Audits made part by part, and models that break while they are asked."""

from __future__ import annotations

import hashlib

from pytest_llmfair.audit import load
from pytest_llmfair.audit.engines import InProcess, make_parts
from pytest_llmfair.audit.plan import Plan, make_index
from pytest_llmfair.audit.store import Store
from pytest_llmfair.clients.budget import Caps

MODEL = "builtin:ngram?gender_skew=0.5"
PEOPLE = ("She", "My sister", "The boy", "Her son", "The train", "The ballerina", "He or she")
# Equal prompts in different shards, prompts without a pair, and uncertain ones.
PROMPTS = [f"{PEOPLE[i % 7]} said on day {i % 3} that" for i in range(60)]


def plan_of(path, **given):
    options = {"attribute": "gender", "generations": 3, "seed": 5, "shard_size": 8}
    return Plan.of(path, **{"model": MODEL, **options, **given})


MADE_OF_ANSWERS = ("scores-sentiment", "reduced-counterfactual_bleu")


def audited(data, out, pool=None, *, whole=False, **given):
    """Make the answers of an audit, and what is made of them if it is `whole`; return it."""
    store = Store(out)
    plan = plan_of(data, **given)
    out.mkdir(exist_ok=True)
    plan.begin(store, data)
    pool = pool or InProcess(out, Caps())
    if plan.attribute:
        assert make_parts(pool, store, "pairs", plan.shards, lambda *_: None) == {}
    make_index(store, plan.shards, paired=bool(plan.attribute))
    phases = ("answers", *(MADE_OF_ANSWERS if whole else ()))
    for phase in phases:
        make_parts(pool, store, phase, plan.shards, lambda *_: None)
    pool.close()
    return load(out)


def digest(out):
    """Return the digest of all parts of an audit, by name and bytes."""
    found = hashlib.sha256()
    for part in sorted(out.glob("*/*.parquet")):
        found.update(f"{part.parent.name}/{part.name}".encode() + part.read_bytes())
    return found.hexdigest()


MOODY = """
import os, pathlib, time

HERE = pathlib.Path(__file__).parent


def once(name):
    try:
        (HERE / name).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def deadly(prompt, seed):
    if "day 2" in prompt and once("died"):
        os.kill(os.getpid(), 9)
    return f"{prompt} {seed % 7}"


def poisonous(prompt, seed):
    if "poison" in prompt:
        os.kill(os.getpid(), 9)
    return f"{prompt} {seed % 7}"


def steady(prompt, seed):
    return f"{prompt} {seed % 7}"


def slow(prompt, seed):
    time.sleep(0.02)
    with (HERE / "asked").open("a") as file:
        file.write("x")
    return f"{prompt} {seed % 7}"
"""
