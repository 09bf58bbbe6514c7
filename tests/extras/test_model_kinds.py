"""Models that are built in other ways than GPT-2 and T5, beside the same models one by one."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from pytest_llmfair.clients import ModelSpecError, load_client
from pytest_llmfair.clients.protocol import ModelError

SPEECH = "the nurse said that he she was kind tired a doctor who is yes no maybe not at all"
WORDS = SPEECH.split()
VOCABULARY = {word: i for i, word in enumerate(["<pad>", "</s>", "<unk>", "<s>", *WORDS])}
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
    "rotates by position": lambda: transformers.LlamaForCausalLM(
        transformers.LlamaConfig(**TOKENS, **SIZE)
    ),
}


def tokenizer(form: str = "$A") -> Any:
    words = Tokenizer(models.WordLevel(VOCABULARY, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.post_processor = processors.TemplateProcessing(
        single=form, special_tokens=[("<s>", 3), ("</s>", 1)]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=words,
        unk_token="<unk>",
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
    )


def saved(model: Any, where: Path, form: str = "$A") -> Path:
    """Save a model whose weights are large enough that its answers differ."""
    import torch

    with torch.no_grad():
        for weights in model.parameters():
            if weights.dim() > 1:
                weights.mul_(8.0)
    model.save_pretrained(where)
    tokenizer(form).save_pretrained(where)
    return where


def slow_labels(model: Any, before: list[int], **reads: Any) -> dict[str, float]:
    """One pass per label over all of prompt and label, nothing shared."""
    import torch

    scores = {}
    for label in LABELS:
        ids = [VOCABULARY[word] for word in label.split()]
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
    where = saved(KINDS[kind](), tmp_path)
    client: Any = load_client(f"hf:{where}?device=cpu&max_tokens=6")
    model = client.backend.decoder.model
    for prompt, found in zip(PROMPTS, client.label_probabilities(PROMPTS, LABELS), strict=True):
        slow = slow_labels(model, tokenizer()(prompt)["input_ids"])
        assert found == pytest.approx(slow, abs=1e-6)
        assert client.label_probabilities([prompt], LABELS)[0] == pytest.approx(slow, abs=1e-6)
    together = client.generate(PROMPTS, 8)
    alone = load_client(f"hf:{where}?device=cpu&max_tokens=6&batch_size=1")
    assert [alone.generate([prompt], 8)[0] for prompt in PROMPTS] == together


def test_a_prompt_does_not_end_with_the_token_that_ends_all(tmp_path: Path) -> None:
    import torch

    torch.manual_seed(1)
    where = saved(
        transformers.LlamaForCausalLM(transformers.LlamaConfig(**TOKENS, **SIZE)),
        tmp_path,
        "<s> $A </s>",
    )
    client: Any = load_client(f"hf:{where}?device=cpu")
    ids = tokenizer("<s> $A")(PROMPTS[0])["input_ids"]
    slow = slow_labels(client.backend.decoder.model, ids)
    assert client.label_probabilities(PROMPTS[:1], LABELS)[0] == pytest.approx(slow, abs=1e-6)


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
    forced = VOCABULARY["kind"]
    model.generation_config.forced_bos_token_id = forced
    where = saved(model.eval(), tmp_path, "<s> $A </s>")
    client: Any = load_client(f"hf:{where}?device=cpu&max_tokens=1")
    read = torch.tensor([tokenizer("<s> $A </s>")(PROMPTS[0])["input_ids"]])
    slow = slow_labels(client.backend.decoder.model, [1, forced], input_ids=read)
    assert client.label_probabilities(PROMPTS[:1], LABELS)[0] == pytest.approx(slow, abs=1e-6)
    start = torch.tensor([[1, forced]])
    with torch.no_grad():
        logits = client.backend.decoder.model(input_ids=read, decoder_input_ids=start).logits
    expected = WORDS[int(logits[0, -1].argmax()) - len(VOCABULARY)]
    assert client.generate(PROMPTS[:1], temperature=0)[0] == [expected]


def test_a_lone_surrogate_is_read_as_a_character_that_is_unknown(tmp_path: Path) -> None:
    where = saved(
        transformers.LlamaForCausalLM(transformers.LlamaConfig(**TOKENS, **SIZE)), tmp_path
    )
    client = load_client(f"hf:{where}?device=cpu&max_tokens=4")
    hostile, plain = "the \ud800 said", "the \ufffd said"
    assert client.label_probabilities([hostile], LABELS) == client.label_probabilities(
        [plain], LABELS
    )
    assert len(client.generate([hostile], 2)[0]) == 2


def test_weights_that_are_not_in_the_files_are_never_made_up(tmp_path: Path) -> None:
    config = transformers.BertConfig(**TOKENS, **{k: v for k, v in SIZE.items() if "key" not in k})
    where = saved(transformers.BertModel(config), tmp_path)
    with pytest.raises(ModelSpecError, match=r"its files lack .* was trained for something else"):
        load_client(f"hf:{where}?device=cpu")


def test_a_folder_without_a_tokenizer_is_an_error(tmp_path: Path) -> None:
    transformers.LlamaForCausalLM(transformers.LlamaConfig(**TOKENS, **SIZE)).save_pretrained(
        tmp_path
    )
    with pytest.raises(ModelSpecError, match=r"cannot be loaded .*tokenizer"):
        load_client(f"hf:{tmp_path}?device=cpu")


def test_a_model_that_keeps_no_keys_says_so(tmp_path: Path) -> None:
    model = transformers.MambaForCausalLM(
        transformers.MambaConfig(**TOKENS, hidden_size=16, state_size=4, num_hidden_layers=2)
    )
    client = load_client(f"hf:{saved(model, tmp_path)}?device=cpu")
    with pytest.raises(ModelError, match="MambaForCausalLM keeps no keys and values"):
        client.generate(["he"])
