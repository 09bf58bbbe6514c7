from __future__ import annotations

import math
import random
from collections import Counter

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from pytest_llmfair import conversation
from pytest_llmfair.clients import Missing, ModelSpecError, Request, load_client
from pytest_llmfair.clients.backends.decoding import _choose
from pytest_llmfair.clients.protocol import sample_seed
from pytest_llmfair.responses import is_cut
from tests.extras.tiny import transformers

CONTEXT = 64
SHORT = ["The nurse said that", "He", "A long prompt about the engineer who"]
# Long enough that the common beginning is read once.
LONG = [
    "A customer writes that the order is late and that nobody answers the phone. " + end
    for end in ("He is", "She", "Dear customer, we")
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small random GPT-2 with a trained byte-pair tokenizer, saved as safetensors."""
    import torch

    where = tmp_path_factory.mktemp("models") / "tiny"
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<end>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator([*SHORT, *LONG], trainer)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=bpe, eos_token="<end>")
    tokenizer.save_pretrained(where)
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=CONTEXT,
        n_embd=16,
        n_layer=2,
        n_head=2,
        eos_token_id=0,
    )
    model = transformers.GPT2LMHeadModel(config)
    with torch.no_grad():
        for weights in model.parameters():
            weights.mul_(4.0)
        # Answers of many lengths: the end has one logit everywhere, through a unit of its own.
        model.transformer.ln_f.weight[0] = 0.0
        model.transformer.ln_f.bias[0] = 1.0
        model.transformer.wte.weight[:, 0] = 0.0
        model.transformer.wte.weight[0] = 0.0
        model.transformer.wte.weight[0, 0] = 4.0
    model.save_pretrained(where)
    assert (where / "model.safetensors").exists()
    return where


@pytest.fixture(scope="module")
def client(folder):
    return load_client(f"hf:{folder}?max_tokens=10&device=cpu")


def parts(client):
    return client.backend.decoder.model, client.backend.tokenizer


def slow_answer(client, prompt, seed, temperature, max_tokens, **options):
    """One sample, one full pass per token, no cache, no batch."""
    import torch

    model, tokenizer = parts(client)
    ids = tokenizer(prompt, **options)["input_ids"]
    asked, draw = len(ids), random.Random(seed)
    while len(ids) - asked < max_tokens:
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits[0, -1]
        if temperature == 0:
            ids.append(int(logits.argmax()))
        else:
            cumulative = torch.softmax(logits / temperature, 0).double().cumsum(0)
            ids.append(int((cumulative <= draw.random()).sum()))
        if ids[-1] == 0:
            break
    return tokenizer.decode(ids[asked:], skip_special_tokens=True).strip()


def text_or_reason(answer):
    return "" if isinstance(answer, Missing) and answer.reason == "empty" else answer


@pytest.mark.parametrize("prompts", [SHORT, LONG], ids=["short", "shared beginning"])
@pytest.mark.parametrize("temperature", [1.0, 0.6])
def test_batched_answers_equal_answers_drawn_one_by_one(client, prompts, temperature):
    rows = client.generate(prompts, 12, temperature=temperature)
    for prompt, row in zip(prompts, rows, strict=True):
        for j, answer in enumerate(row):
            seed = sample_seed(client.seed, prompt, 0, j)
            slow = slow_answer(client, prompt, seed, temperature, client.max_tokens)
            assert text_or_reason(answer) == slow


def test_answers_depend_on_neither_batch_nor_order(folder, client):
    rows = client.generate([*SHORT, *LONG], 6)
    assert client.generate([*LONG, *SHORT], 6) == [*rows[3:], *rows[:3]]
    assert client.generate([LONG[1]], 3) == [rows[4][:3]]
    for size in (1, 7):
        small = load_client(f"hf:{folder}?max_tokens=10&device=cpu&batch_size={size}")
        assert small.generate([*SHORT, *LONG], 6) == rows


def test_greedy_answers_are_all_alike_and_equal_to_the_slow_ones(client):
    rows = client.generate(SHORT, 3, temperature=0)
    for prompt, row in zip(SHORT, rows, strict=True):
        slow = slow_answer(client, prompt, 0, 0, client.max_tokens)
        assert [text_or_reason(answer) for answer in row] == [slow] * 3


def test_answers_end_where_the_model_ends_them(client):
    requests = [Request("He", seed) for seed in range(200)]
    counts = Counter(
        len(client.backend.tokenizer(answer)["input_ids"]) if answer else 0
        for answer in client.backend.generate(requests, temperature=1.0, max_tokens=10)
    )
    assert counts[0] > 5
    assert sum(counts[length] for length in range(1, 8)) > 20
    assert sum(counts[length] for length in range(8, 12)) > 20


def test_a_token_without_probability_is_never_drawn():
    import torch

    logits = torch.tensor([[-math.inf, 50.0, 50.0, -math.inf]] * 2)
    last = math.nextafter(1.0, 0.0)
    assert _choose(logits, 1.0, [0.0, last]).tolist() == [1, 2]
    assert _choose(logits, 1e-37, [0.0, last]).tolist() == [1, 2]


def test_probabilities_are_products_of_the_models_own(client):
    import torch

    model, tokenizer = parts(client)
    words = ["he", "she", "Zebra crossing"]
    for prompts in (SHORT, LONG):
        rows = client.next_token_probabilities(prompts, words)
        for prompt, row in zip(prompts, rows, strict=True):
            for word in words:
                before = tokenizer(prompt)["input_ids"]
                ids = tokenizer(f"{prompt} {word}")["input_ids"]
                with torch.no_grad():
                    logs = model(torch.tensor([ids])).logits[0].double().log_softmax(-1)
                slow = sum(float(logs[i - 1, ids[i]]) for i in range(len(before), len(ids)))
                assert row[word] == pytest.approx(math.exp(slow), rel=1e-4)


def test_a_space_at_the_end_of_a_prompt_changes_no_probability(client):
    assert client.next_token_probabilities(["He is "], ["a"]) == [
        pytest.approx(client.next_token_probabilities(["He is"], ["a"])[0])
    ]


def test_what_the_context_cuts_is_missing_and_what_the_limit_cuts_is_an_answer(client):
    prompt = "The nurse said that the order " * 2
    _, tokenizer = parts(client)
    room = CONTEXT - len(tokenizer(prompt)["input_ids"])
    assert room > 1
    asked = client.generate([prompt], 60, max_tokens=room)[0]
    more = client.generate([prompt], 60, max_tokens=room + 1)[0]
    lost = [j for j, answer in enumerate(more) if getattr(answer, "reason", "") == "length"]
    assert lost
    assert all(isinstance(asked[j], str) and is_cut(asked[j]) for j in lost)
    assert not all(map(is_cut, asked))
    assert all(a == b for j, (a, b) in enumerate(zip(asked, more, strict=True)) if j not in lost)


def test_a_prompt_longer_than_the_context_loses_no_other_answer(client):
    answers = client.generate(["word " * 200, "He"], 2)
    assert {answer.reason for answer in answers[0]} == {"error"}
    assert f"the model holds {CONTEXT}" in answers[0][0].detail
    assert answers[1] == client.generate(["He"], 2)[0]
    with pytest.raises(ValueError, match="cannot be scored: the prompt has"):
        client.next_token_probabilities(["word " * 200], ["he"])


@pytest.fixture
def starting(folder, tmp_path):
    """The same model with a tokenizer that puts a token before every text."""
    plain = load_client(f"hf:{folder}")
    model, tokenizer = parts(plain)
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="<end> $A", special_tokens=[("<end>", 0)]
    )
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    return tmp_path


def test_a_token_before_every_text_is_kept(starting):
    client = load_client(f"hf:{starting}?max_tokens=6")
    assert parts(client)[1]("He")["input_ids"][0] == 0
    seed = sample_seed(0, "He", 0, 0)
    slow = slow_answer(client, "He", seed, 1.0, 6)
    assert text_or_reason(client.generate(["He"])[0][0]) == slow


def test_a_chat_template_frames_the_prompt_and_writes_its_special_tokens_itself(starting):
    import torch

    template = "{% for m in messages %}User: {{ m.content }}\n{% endfor %}Assistant:"
    (starting / "chat_template.jinja").write_text(template, encoding="utf-8")
    chat = load_client(f"hf:{starting}?max_tokens=6")
    framed = "User: Hi\nAssistant:"
    for j, answer in enumerate(chat.generate(["Hi"], 8)[0]):
        seed = sample_seed(0, "Hi", 0, j)
        slow = slow_answer(chat, framed, seed, 1.0, 6, add_special_tokens=False)
        assert text_or_reason(answer) == slow
    model, tokenizer = parts(chat)
    ids = tokenizer(framed + "a", add_special_tokens=False)["input_ids"]
    with torch.no_grad():
        logs = model(torch.tensor([ids])).logits[0, -2].softmax(-1)
    found = chat.next_token_probabilities(["Hi"], ["a"])[0]
    assert found["a"] == pytest.approx(float(logs[ids[-1]]))


def test_a_chat_template_takes_a_conversation_and_answers_turn_by_turn(starting):
    template = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant:"
    (starting / "chat_template.jinja").write_text(template, encoding="utf-8")
    chat = load_client(f"hf:{starting}?max_tokens=6&temperature=0")
    (first,), (last,) = chat.generate(["Hi"]), chat.generate([conversation("Hi", "He is")])
    framed = f"user: Hi\nassistant: {first[0]}\nuser: He is\nassistant:"
    slow = slow_answer(chat, framed, 0, 0.0, 6, add_special_tokens=False)
    assert text_or_reason(last[0]) == slow


def test_the_model_says_what_it_is(client, folder):
    assert client.name == f"hf:{folder}"
    assert client.description.startswith("gpt2 with ")


def test_a_device_that_is_not_there_and_a_folder_without_a_model_are_errors(folder, tmp_path):
    with pytest.raises(ModelSpecError, match="cannot use device 'toaster'"):
        load_client(f"hf:{folder}?device=toaster")
    with pytest.raises(ModelSpecError, match=r"cannot be loaded .*save_pretrained"):
        load_client(f"hf:{tmp_path}")


def test_logits_that_are_not_numbers_are_an_error(folder):
    import torch

    client = load_client(f"hf:{folder}")
    with torch.no_grad():
        client.backend.decoder.model.transformer.ln_f.weight.fill_(math.nan)
    with pytest.raises(ValueError, match="logits are not numbers"):
        client.generate(["He"])
