"""Models of many kinds, asked in batches and compared with the same models asked one by one."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_llmfair.clients import Missing, ModelError, ModelSpecError, load_client
from pytest_llmfair.clients.protocol import sample_seed
from tests.extras.tiny import saved, transformers, word_tokenizer

SPEECH = "the nurse said that he she was kind tired a doctor who is yes no maybe not at all"
VOCABULARY = ["<pad>", "</s>", "<unk>", "<s>", *SPEECH.split()]
TOKENS = {"vocab_size": len(VOCABULARY), "pad_token_id": 0, "eos_token_id": 1, "bos_token_id": 3}
SIZE = {
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
}
BEGINNING = "the nurse said that he was tired and the doctor who was kind said no"
PROMPTS = [
    f"{BEGINNING} {end}" for end in ("she", "not at all maybe he is kind", "a doctor said yes he")
]
LABELS = ["yes", "no", "not at all"]

KINDS: dict[str, Callable[[], Any]] = {
    "looks back over a window": lambda: transformers.MistralForCausalLM(
        transformers.MistralConfig(**TOKENS, **SIZE, sliding_window=4)
    ),
    "keeps all and looks back over a window": lambda: transformers.GPTNeoForCausalLM(
        transformers.GPTNeoConfig(
            **TOKENS,
            hidden_size=16,
            num_layers=2,
            num_heads=2,
            attention_types=[[["global", "local"], 1]],
            window_size=4,
        )
    ),
    "counts positions by place": lambda: transformers.MptForCausalLM(
        transformers.MptConfig(**TOKENS, d_model=16, n_layers=2, n_heads=2)
    ),
    "rotates by position": lambda: llama(),
}


def llama() -> Any:
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**TOKENS, **SIZE))


def tokenizer(form: str = "$A") -> Any:
    return word_tokenizer(VOCABULARY, form, bos_token="<s>", eos_token="</s>", pad_token="<pad>")


def slow_labels(model: Any, before: list[int], **reads: Any) -> dict[str, float]:
    """One pass per label over all of prompt and label, nothing shared."""
    import torch

    scores = {}
    for label in LABELS:
        ids = [VOCABULARY.index(word) for word in label.split()]
        whole = torch.tensor([[*before, *ids]])
        with torch.no_grad():
            out = model(
                **(reads | {"decoder_input_ids": whole} if reads else {"input_ids": whole})
            )
        logs = out.logits[0].double().log_softmax(-1)
        scores[label] = math.exp(
            sum(float(logs[len(before) - 1 + i, token]) for i, token in enumerate(ids))
        )
    return {label: score / sum(scores.values()) for label, score in scores.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_a_shared_beginning_changes_nothing(kind: str, tmp_path: Path) -> None:
    import torch

    torch.manual_seed(1)
    saved(KINDS[kind](), tokenizer(), tmp_path)
    client: Any = load_client(f"hf:{tmp_path}?device=cpu&max_tokens=6")
    model = client.backend.decoder.model
    for prompt, found in zip(PROMPTS, client.label_probabilities(PROMPTS, LABELS), strict=True):
        slow = slow_labels(model, tokenizer()(prompt)["input_ids"])
        assert found == pytest.approx(slow, abs=1e-6)
        assert client.label_probabilities([prompt], LABELS)[0] == pytest.approx(slow, abs=1e-6)
    together = client.generate(PROMPTS, 8)
    alone = load_client(f"hf:{tmp_path}?device=cpu&max_tokens=6&batch_size=1")
    assert [alone.generate([prompt], 8)[0] for prompt in PROMPTS] == together


def test_a_prompt_does_not_end_with_the_token_that_ends_a_text(tmp_path: Path) -> None:
    import torch

    torch.manual_seed(1)
    saved(llama(), tokenizer("<s> $A </s>"), tmp_path)
    client: Any = load_client(f"hf:{tmp_path}?device=cpu")
    ids = tokenizer("<s> $A")(PROMPTS[0])["input_ids"]
    slow = slow_labels(client.backend.decoder.model, ids)
    assert client.label_probabilities(PROMPTS[:1], LABELS)[0] == pytest.approx(slow, abs=1e-6)


def test_a_lone_surrogate_is_read_as_an_unknown_character(tmp_path: Path) -> None:
    client = load_client(f"hf:{saved(llama(), tokenizer(), tmp_path)}?device=cpu&max_tokens=4")
    hostile, plain = "the \ud800 said", "the \ufffd said"
    assert client.label_probabilities([hostile], LABELS) == client.label_probabilities(
        [plain], LABELS
    )
    assert len(client.generate([hostile], 2)[0]) == 2


def test_missing_weights_are_an_error(tmp_path: Path) -> None:
    config = transformers.BertConfig(**TOKENS, **{k: v for k, v in SIZE.items() if "key" not in k})
    where = saved(transformers.BertModel(config), tokenizer(), tmp_path)
    with pytest.raises(ModelSpecError, match=r"its files lack .* was trained for something else"):
        load_client(f"hf:{where}?device=cpu")


def test_a_folder_without_a_tokenizer_is_an_error(tmp_path: Path) -> None:
    llama().save_pretrained(tmp_path)
    with pytest.raises(ModelSpecError, match=r"cannot be loaded .*tokenizer"):
        load_client(f"hf:{tmp_path}?device=cpu")


def test_a_model_without_keys_and_values_is_an_error(tmp_path: Path) -> None:
    model = transformers.MambaForCausalLM(
        transformers.MambaConfig(**TOKENS, hidden_size=16, state_size=4, num_hidden_layers=2)
    )
    client = load_client(f"hf:{saved(model, tokenizer(), tmp_path)}?device=cpu")
    with pytest.raises(ModelError, match="MambaForCausalLM keeps no keys and values"):
        client.generate(["he"])


@pytest.fixture(scope="module")
def t5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small random T5, whose answers start with the token for padding."""
    import torch

    torch.manual_seed(3)
    config = transformers.T5Config(
        vocab_size=len(VOCABULARY),
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=2,
        num_heads=2,
        decoder_start_token_id=0,
        initializer_factor=0.5,
        tie_word_embeddings=False,
    )
    model = transformers.T5ForConditionalGeneration(config)
    where = tmp_path_factory.mktemp("t5")
    model.save_pretrained(where)
    tokenizer("$A </s>").save_pretrained(where)
    return where


@pytest.fixture(scope="module")
def client(t5: Path) -> Any:
    return load_client(f"hf:{t5}?max_tokens=8&device=cpu")


def slow_answer(client: Any, prompt: str, seed: int, temperature: float) -> str:
    """Answer of an encoder-decoder, with one full pass per token, no cache and no batch."""
    import torch

    ids = torch.tensor([client.backend.tokenizer(prompt)["input_ids"]])
    written: list[int] = []
    draw = random.Random(seed)
    while len(written) < 8 and written[-1:] != [1]:
        with torch.no_grad():
            out = client.backend.decoder.model(
                input_ids=ids, decoder_input_ids=torch.tensor([[0, *written]])
            )
        logits = out.logits[0, -1]
        if temperature == 0:
            written.append(int(logits.argmax()))
        else:
            cumulative = torch.softmax(logits / temperature, 0).double().cumsum(0)
            written.append(int((cumulative <= draw.random()).sum()))
    return str(client.backend.tokenizer.decode(written, skip_special_tokens=True)).strip()


@pytest.mark.parametrize("temperature", [0.0, 0.7, 1.0])
def test_batched_answers_of_an_encoder_decoder_equal_answers_drawn_one_by_one(
    client: Any, temperature: float
) -> None:
    lengths = set()
    rows = client.generate(PROMPTS, 4, temperature=temperature)
    for prompt, row in zip(PROMPTS, rows, strict=True):
        for j, answer in enumerate(row):
            seed = sample_seed(client.seed, prompt, 0, j)
            text = "" if isinstance(answer, Missing) and answer.reason == "empty" else answer
            assert text == slow_answer(client, prompt, seed, temperature)
            lengths.add(len(str(text).split()))
    assert len(lengths) > 1 or temperature == 0.0


def test_answers_of_an_encoder_decoder_depend_on_neither_batch_nor_order(
    t5: Path, client: Any
) -> None:
    rows = client.generate(PROMPTS, 4)
    assert client.generate(PROMPTS[::-1], 4) == rows[::-1]
    small = load_client(f"hf:{t5}?max_tokens=8&device=cpu&batch_size=3")
    assert small.generate(PROMPTS, 4) == rows


def test_labels_of_an_encoder_decoder_have_the_models_own_probabilities(client: Any) -> None:
    import torch

    for prompt, found in zip(PROMPTS, client.label_probabilities(PROMPTS, LABELS), strict=True):
        read = torch.tensor([tokenizer("$A </s>")(prompt)["input_ids"]])
        slow = slow_labels(client.backend.decoder.model, [0], input_ids=read)
        assert found == pytest.approx(slow, abs=1e-6)


def test_a_second_token_that_a_model_forces_comes_before_every_answer(tmp_path: Path) -> None:
    import torch

    torch.manual_seed(1)
    model = transformers.BartForConditionalGeneration(
        transformers.BartConfig(
            **TOKENS,
            d_model=16,
            encoder_layers=2,
            decoder_layers=2,
            encoder_attention_heads=2,
            decoder_attention_heads=2,
            encoder_ffn_dim=32,
            decoder_ffn_dim=32,
            decoder_start_token_id=1,
        )
    )
    forced = VOCABULARY.index("kind")
    model.generation_config.forced_bos_token_id = forced
    saved(model.eval(), tokenizer("<s> $A </s>"), tmp_path)
    client: Any = load_client(f"hf:{tmp_path}?device=cpu&max_tokens=1")
    read = torch.tensor([tokenizer("<s> $A </s>")(PROMPTS[0])["input_ids"]])
    slow = slow_labels(client.backend.decoder.model, [1, forced], input_ids=read)
    assert client.label_probabilities(PROMPTS[:1], LABELS)[0] == pytest.approx(slow, abs=1e-6)
    start = torch.tensor([[1, forced]])
    with torch.no_grad():
        logits = client.backend.decoder.model(input_ids=read, decoder_input_ids=start).logits
    expected = VOCABULARY[int(logits[0, -1].argmax())]
    assert client.generate(PROMPTS[:1], temperature=0)[0] == [expected]


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("dtype=int4", "dtype is 'int4'; choose float32, bfloat16, float16"),
        ("trust_remote_code=yes", "trust_remote_code is 'yes'; choose true, false"),
    ],
)
def test_an_option_has_a_few_legal_values(t5: Path, option: str, message: str) -> None:
    with pytest.raises(ModelSpecError, match=message):
        load_client(f"hf:{t5}?{option}")


def test_a_precision_can_be_named(t5: Path) -> None:
    import torch

    half: Any = load_client(f"hf:{t5}?device=cpu&dtype=bfloat16")
    assert half.backend.decoder.model.dtype == torch.bfloat16
