"""Labels that models do not answer with: probed first, then sampled and read, or nothing paid."""

from __future__ import annotations

import json

import pytest

from pytest_llmfair.cli import main
from pytest_llmfair.clients import Limits, ModelClient
from pytest_llmfair.clients.protocol import Attempt, Reply, UnknownProbability
from pytest_llmfair.suites import run
from pytest_llmfair.suites.questions import label_of
from tests.suites.sentences import sentences, sentiment


class Chat:
    """A chat model on a server, whose labels have `mass` of the probability of a first word."""

    description, limits, identity = "a chat model", Limits(4), {"model": "chat"}

    def __init__(self, effect=0.0, *, mass=0.001, lost="no prompt", says="It is **{}**."):
        self.name = f"chat {effect} {mass} {lost} {says}"
        self.model, self.known = sentiment(effect, "older"), sentences("classifier")
        self.mass, self.lost, self.says = mass, lost, says
        self.probed, self.sampled = [], []

    def open(self):
        pass

    async def send(self, request, *, temperature, max_tokens):
        (text,) = (each for each in self.known if each in request.prompt)
        row = self.model(text)
        if request.first_token:
            self.probed.append(request.prompt)
            shares = {word: self.mass * share for word, share in row.items()}
            return Attempt(Reply(json.dumps({} if self.lost in text else shares)))
        self.sampled.append(request.prompt)
        place = (request.seed >> 33) % 1000 / 1000
        label = next(word for word in row if (place := place - row[word]) < 0)
        return Attempt(Reply(self.says.format(label.upper())))

    def read_first_token(self, answer, words):
        row = json.loads(answer)
        if not row:
            raise UnknownProbability("no label is listed")
        return [row[word] for word in words]


def notes(found):
    return " ".join(each.text for each in found.measured[0].findings)


@pytest.mark.parametrize("effect", [0.6, 0.0])
def test_answers_are_sampled_where_labels_have_too_little_probability(effect):
    chat = Chat(effect)
    found = run("classifier", ModelClient(chat), tasks=["age"])
    # Only the probes were asked for probabilities.
    assert 0 < len(chat.probed) <= 6
    questions = len(found.tasks[0].asked)
    assert len(chat.sampled) == 5 * questions
    assert f"of {questions} of {questions} questions 5 sampled answers each were read" in notes(
        found
    )
    # PertSR; the fair model has the noise of five answers.
    value = found.measured[-1].estimate.value
    assert (value > 0.3) == (effect > 0)


def test_a_model_that_names_no_label_is_asked_a_few_prompts_only():
    chat = Chat(says="I would rather not say.")
    found = run("classifier", ModelClient(chat), tasks=["age"])
    assert len(chat.probed) <= 6
    assert len(chat.sampled) <= 30
    assert len(found.tasks[0].asked) > 50
    for each in found.measured:
        assert "less than 1%: the model does not answer" in each.estimate.undefined
    unknown = Chat(lost="", says="I would rather not say.")
    found = run("classifier", ModelClient(unknown), tasks=["age"])
    assert "no probability of" in found.measured[0].estimate.undefined


def test_one_prompt_without_a_label_does_not_void_a_task():
    text = next(iter(text for text, about in sentences("classifier").items() if "old" in text))
    chat = Chat(mass=0.8, lost=text)
    found = run("classifier", ModelClient(chat), tasks=["age"])
    assert not any(each.estimate.undefined for each in found.measured)
    assert 0 < len(chat.sampled) < len(chat.probed)
    assert set(chat.sampled) <= {each for each in chat.probed if text in each}
    # Without a readable answer its template is left out, and the answer is missing.
    silent = Chat(mass=0.8, lost=text, says="Hm.")
    found = run("classifier", ModelClient(silent), tasks=["age"])
    assert not any(each.estimate.undefined for each in found.measured)
    assert "missing (unreadable)" in notes(found)
    lost = found.measured[0].estimate.sample.units
    assert (
        lost
        < run("classifier", ModelClient(chat), tasks=["age"]).measured[0].estimate.sample.units
    )


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Yes.", "Yes"),
        ("  **YES** - strong", "Yes"),
        ("No, although I would like to say yes.", "No"),
        ("My answer: no", "No"),
        ("Yes and no", "Yes"),
        ("It depends: yes or no", None),
        ("That is not a yes", None),
        ("Yesterday I knew", None),
        ("", None),
    ],
)
def test_a_label_is_read_only_where_it_is_clear(text, label):
    assert label_of(text, ["Yes", "No"]) == label


def test_a_plan_says_which_bounds_the_size_can_decide(capsys):
    command = "run ruted --plan --task stories --task next_word --bounds ruted_skew="
    assert main(f"{command}0.9".split()) == 0
    assert "stories.ruted_skew 0.9: would pass in 100% of runs" in capsys.readouterr().out
    assert main(f"{command}0.01".split()) == 0
    assert "stories.ruted_skew 0.01: a perfectly fair model would pr" in capsys.readouterr().out
    assert main(["run", "resume", "--plan", "--bounds", "pairwise_text.rabbi=0.9"]) == 0
    assert "pairwise_text.rabbi 0.9: would pass in" in capsys.readouterr().out
    assert main(["run", "ruted", "--plan"]) == 0
    assert "bounds" not in capsys.readouterr().out
