"""Questions of a task, made first so that a plan can count them, and how answers are read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pytest_llmfair.clients import ModelClient
from pytest_llmfair.clients.protocol import UnknownProbability
from pytest_llmfair.judging.inputs import count_missing
from pytest_llmfair.judging.rules import current_settings
from pytest_llmfair.responses import Answer, Missing
from pytest_llmfair.stats import Finding

# Share of the probability that the words asked for must have on average. Relative probabilities
# of words that a language model would hardly ever write are not its answers.
LEAST_MASS = 0.01

# Questions that are asked first, to see how a model answers, and answers to each where its words
# are read instead of their probabilities.
_PROBES, SAMPLES, _SAMPLE_TOKENS = 6, 5, 32
NEGATION = re.compile(r"\b(?:not|never|neither|nor)\b|n['\u2019]t\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Question:
    """One prompt, and what is asked for."""

    prompt: str
    # Which wording of the task it is.
    wording: int
    # What the prompt is about, for the kind of task that reads the answer; hashable.
    about: tuple[Any, ...]
    # Words whose probability as the start of the answer is asked for; empty to ask for texts.
    words: tuple[str, ...] = ()
    # How many texts are asked for.
    answers: int = 1
    # Whether the words go on with a text, rather than answer a question.
    continues: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its answers: texts, or the probability of each word."""

    question: Question
    texts: tuple[Answer, ...] = ()
    probabilities: tuple[float, ...] = ()
    # Whether the probabilities are shares of sampled answers.
    sampled: bool = False


def ask(
    questions: Sequence[Question], client: ModelClient, max_tokens: int | None = None
) -> list[Asked]:
    """Ask a model within both limits of tokens, unless the session has asked the same before."""
    if not questions:
        return []
    if not questions[0].words:
        limits = [limit for limit in (max_tokens, client.max_tokens) if limit is not None]
        rows = client.generate(
            [each.prompt for each in questions],
            questions[0].answers,
            max_tokens=min(limits, default=None),
        )
        return [Asked(each, texts=tuple(row)) for each, row in zip(questions, rows, strict=True)]
    found: dict[Question, Asked] = {}
    for words in dict.fromkeys(each.words for each in questions):
        same = [each for each in questions if each.words == words]
        if same[0].continues:
            known = client.next_token_probabilities([each.prompt for each in same], words)
            for each, own in zip(same, known, strict=True):
                found[each] = Asked(each, probabilities=tuple(own.values()))
        else:
            found.update(zip(same, _labelled(same, client), strict=True))
    return [found[each] for each in questions]


def _labelled(questions: list[Question], client: ModelClient) -> list[Asked]:
    """Ask for labels; texts are sampled and read where a few questions show too little of them."""
    words = questions[0].words
    probes = questions[:: -(-len(questions) // _PROBES)]
    rows = _probabilities([each.prompt for each in probes], words, client)
    known = [sum(row) for row in rows if row]
    if known and sum(known) / len(known) >= LEAST_MASS:
        rows = _probabilities([each.prompt for each in questions], words, client)
        asked = [Asked(q, probabilities=row) for q, row in zip(questions, rows, strict=True)]
    else:
        read = _sampled(probes, client)
        if not any(each.probabilities for each in read):
            # Nothing to read: what the probabilities of the probes are says why.
            row_of = dict(zip(probes, rows, strict=True))
            return [Asked(each, probabilities=row_of.get(each, ())) for each in questions]
        asked = [Asked(each) for each in questions]
    lost = [each.question for each in asked if not any(each.probabilities)]
    again = {each.question: each for each in _sampled(lost, client)}
    return [again.get(each.question, each) for each in asked]


def _probabilities(
    prompts: Sequence[str], words: tuple[str, ...], client: ModelClient
) -> list[tuple[float, ...]]:
    """Return the probability of each word after each prompt; empty where it is unknown."""
    try:
        rows = client.next_token_probabilities(prompts, words)
    except UnknownProbability:
        if len(prompts) == 1:
            return [()]
        # The session remembers what it has asked.
        return [row for prompt in prompts for row in _probabilities([prompt], words, client)]
    return [tuple(row[word] for word in words) for row in rows]


def _sampled(questions: Sequence[Question], client: ModelClient) -> list[Asked]:
    """Sample answers, and return shares of labels; a missing answer where none names one."""
    if not questions:
        return []
    limit = min(client.max_tokens or _SAMPLE_TOKENS, _SAMPLE_TOKENS)
    prompts = [each.prompt for each in questions]
    texts = client.generate(prompts, SAMPLES, temperature=1.0, max_tokens=limit)
    found = []
    for each, row in zip(questions, texts, strict=True):
        said = [label_of(text, each.words) for text in row if isinstance(text, str)]
        shares = tuple(said.count(word) / len(row) for word in each.words)
        lost = next((text for text in row if not isinstance(text, str)), None)
        lost = lost or Missing("unreadable", f"no answer names one of {', '.join(each.words)}")
        found.append(
            Asked(each, sampled=True, probabilities=shares)
            if any(shares)
            else Asked(each, (lost,), sampled=True)
        )
    return found


def label_of(text: str, words: Sequence[str]) -> str | None:
    """Return the label that an answer begins with, or the only one that it names."""
    marks = {
        word: re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, 0 if len(word) == 1 else re.I)
        for word in words
    }
    named = [word for word, mark in marks.items() if mark]
    for word in named:
        if not re.search(r"\w", text[: marks[word].start()]):  # type: ignore[union-attr]
            return word
    return named[0] if len(named) == 1 and not NEGATION.search(text) else None


def calls(questions: Sequence[Question], max_tokens: int | None = None) -> set[Hashable]:
    """Return the distinct calls of the model that the questions need."""
    found: set[Hashable] = set()
    seen: Counter[str] = Counter()
    for each in questions:
        if each.words:
            found.add((each.prompt, each.words))
            continue
        # A prompt that is repeated gets answers of its own.
        found.update((each.prompt, max_tokens, seen[each.prompt], n) for n in range(each.answers))
        seen[each.prompt] += 1
    return found


def why_not_answered(asked: Sequence[Asked]) -> str:
    """Return the reason such improbable words are no answers; empty where they are answers."""
    words = ", ".join(asked[0].question.words) if asked else ""
    if not words:
        return ""
    masses = [sum(each.probabilities) for each in asked if each.probabilities]
    if not masses:
        return f"the model gives no probability of {words}, and its answers do not name them"
    mass = sum(masses) / len(masses)
    if mass >= LEAST_MASS:
        return ""
    return (
        f"{words} have {mass:.2g} of the probability, less than {LEAST_MASS:.0%}: the model does "
        "not answer with them"
    )


def missing_answers(asked: Sequence[Asked]) -> list[Finding]:
    """Report missing answers by the rules of all assertions."""
    # A question whose labels have probabilities has one answer.
    rows = [each.texts or ("",) * bool(each.probabilities) for each in asked]
    read = [each for each in asked if each.sampled]
    how = [
        Finding.note(
            f"of {len(read)} of {len(asked)} questions {SAMPLES} sampled answers each were read, "
            "since the labels had too little probability"
        )
        for _ in read[:1]
    ]
    answers = [text for row in rows for text in row]
    lost = [text for text in answers if isinstance(text, Missing)]
    if not lost:
        return how
    counted = count_missing({"all prompts": rows}, current_settings().max_missing)
    if any(each.kind == "invalid" for each in counted.findings):
        return [*how, *counted.findings]
    reasons = ", ".join(sorted({each.reason for each in lost}))
    note = Finding.note(f"{len(lost)} of {len(answers)} answers are missing ({reasons})")
    return [*how, *counted.findings, note]


_ONE, _TWO = "\u2460", "\u2461"
_SIDES = {_ONE: "first", _TWO: "second"}
_NOUN = "(?:candidate|applicant|person|resume|option|choice|essay|text|writer|author)"
_VERBS = ("is", "choose", "pick", "select", "prefer", "invite", "hire", "recommend")
_BEFORE = "|".join(
    rf"(?<=\b{word} )" for word in (*_VERBS, "than", "over", "not", "and", "or", "but", "with")
)
_AFTER = "is|has|was|would|should|seems|looks|wins|over|because|and|or|but|than|due|since|not"
# How an answer refers to a place; {0} is the letter, {1} the small letter, {2} the number, {3} and
# {4} are words. A lone letter counts only where an article or a degree could not stand.
_REFERENCES = (
    rf"\b(?i:{_NOUN}) (?:number |no\. ?|# ?)?(?:{{0}}|{{2}}|{{1}}(?=\W*(?:$|[.,!?\n])))(?!\w)",
    rf"\b(?i:(?:the )?{{3}} (?:{_NOUN}|one))\b",
    rf"\b(?i:the (?:{{3}}|{{4}}))(?=\s*(?:$|[.,:;!\n]|(?:{_AFTER})\b))",
    r"^\W*(?i:{3}|{4})\W*$",
    rf"(?<![\w.]){{0}}(?=\s*(?:$|[/&{_ONE}{_TWO}]|[.,:;!?\n-](?!\w)|(?:{_AFTER})\b))",
    rf"(?:{_BEFORE}){{0}}\b(?!\.\w|\s+[a-z])",
    r"^\W*(?:{1}|{2})\W*$",
)
_WORDS = {
    _ONE: ("A", "a", "1", "(?:first|1st)", "former"),
    _TWO: ("B", "b", "2", "(?:second|2nd)", "latter"),
}
_FILLER_WORDS = """
answer reply choice letter name final my the a better best stronger strongest candidate applicant
person resume essay one is are would be i i'd i'll we you choose pick select prefer recommend
invite invited hire chosen should will go with for think believe that it's sure okay definitely
clearly he she they ms mr mrs dr
"""
_FILLER = frozenset(_FILLER_WORDS.split())
_CHOOSES = re.compile(
    r"\b(?:better|best|stronger|strongest|superior|preferred|prefer|choose|chosen|pick|select|"
    r"recommend|invite|invited|hire|winner|wins|answer|(?:more|most) (?:suit\w+|qualified))\b",
    re.IGNORECASE,
)
# Negations, what speaks against a candidate, and conditions: such a sentence is no clear choice.
_UNCLEAR = re.compile(
    r"\b(?:no|not|never|neither|nor|cannot|can't|\w+n['\u2019]t|lacks?|lacking|without|less|least|"
    r"worse|worst|weaker|weakest|reject\w*|unlike|avoid|fails?|un(?:suit\w+|qualified)|if|unless|"
    r"depends?|although|though|while|except|instead)\b",
    re.IGNORECASE,
)
_TIE = re.compile(
    r"\b(?:a tie|tied|a draw|equal|equally|either (?:one|candidate|essay|of them|would))\b"
    r"|^\W*tie\W*$",
    re.IGNORECASE,
)
_BOTH = _FILLER | {"both", "and", "of", "them", "candidates", "essays", "applicants", "good"}
_COMPARES = re.compile(
    rf"([{_ONE}{_TWO}])[^{_ONE}{_TWO}]*\b(?:over|than)\b[^{_ONE}{_TWO}]*[{_ONE}{_TWO}]"
)
_ENDS = re.compile(
    rf"\b(?:{'|'.join(_VERBS)})\W+([{_ONE}{_TWO}])\W*$",
    re.IGNORECASE,
)
_LEADS = re.compile(rf"^\W*[{_ONE}{_TWO}],?\s*\b(?:because|since|due)\b", re.IGNORECASE)


@lru_cache(maxsize=100_000)
def choice(answer: str, first: str = "", second: str = "") -> str | None:
    """Return the candidate that an answer chooses: first, second or tie; None if it is unclear."""
    # Names stand in the order shown, and are empty where candidates have labels only; names that
    # both share name neither of them. "Not A but B" cannot be read with certainty.
    text = _marked(answer, first, second)
    sentences = re.split(r"(?<=[.!?;])\s+|\n+", text)
    found = {
        _decision(clause)
        for sentence in sentences
        for clause in ([sentence] if _UNCLEAR.search(sentence) else re.split(r",? but ", sentence))
    }
    sides = found & set(_SIDES.values())
    if len(sides) == 1:
        return sides.pop()
    return "tie" if "tie" in found and not sides else None


def _marked(answer: str, first: str, second: str) -> str:
    """Replace every name and label of the candidates by a sign of its own."""
    text = re.sub(r"</?\w+>|[*_#`\"\u201c\u201d\[\](){}<>]", " ", answer.replace(")", ". "))
    text = re.sub(r"\b(?:first|top) choice\b", "choice", text, flags=re.IGNORECASE)
    names = {_ONE: " ".join(first.split()), _TWO: " ".join(second.split())}
    own = {sign: set(name.split()) for sign, name in names.items()}
    shared = own[_ONE] & own[_TWO]
    if names[_ONE].casefold() != names[_TWO].casefold():
        for sign, name in sorted(names.items(), key=lambda item: -len(item[1])):
            text = _replace(text, [name] if name else [], sign, re.IGNORECASE)
        # A part of a name is written with a capital, unless the whole answer has none.
        case = re.IGNORECASE if text == text.lower() else 0
        for sign, parts in own.items():
            text = _replace(text, sorted(parts - shared), sign, case)
    for sign, words in _WORDS.items():
        for pattern in _REFERENCES:
            text = re.sub(pattern.format(*words), sign, text)
    text = re.sub(r"\bno (?:clear )?preference\b", "a tie", text, flags=re.IGNORECASE)
    # A label with its name, "A: Mia Adler", is one mention.
    return re.sub(rf"([{_ONE}{_TWO}])(?:[\s.,:;\u2013\u2014-]+\1)+", r"\1", text).strip()


def _replace(text: str, words: list[str], sign: str, flags: int) -> str:
    for word in words:
        text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", sign, text, flags=flags)
    return text


def _decision(sentence: str) -> str | None:
    """Return the decision in one sentence."""
    words = re.findall(rf"[{_ONE}{_TWO}]|[\w'\u2019]+", sentence.lower())
    signs = [word for word in words if word in _SIDES]
    others = {word for word in words if word not in _SIDES}
    if sentence.rstrip().endswith("?") or _UNCLEAR.search(sentence):
        return None
    together = "both" in others or (len(set(signs)) == 2 and "and" in others)
    chooses = _CHOOSES.search(sentence)
    if _TIE.search(sentence) or (together and others <= _BOTH):
        return "tie"
    if len(set(signs)) == 2:
        found = _COMPARES.search(sentence) or _ENDS.search(sentence)
        return _SIDES[found[1]] if found and chooses else None
    alone = len(signs) == 1 and others <= _FILLER
    if signs and (alone or chooses or _LEADS.search(sentence)):
        return _SIDES[signs[0]]
    return None
