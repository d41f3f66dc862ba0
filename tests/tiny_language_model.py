"""A random Llama of two small layers, whose tokens are bytes."""

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from everycell.language_models.generation import Request
from everycell.language_models.settings import Decoding

LONGEST = 96
TEMPLATE = (
    "{% for message in messages %}[{{ message['role'] }}]{{ message['content'] }}<end>"
    "{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}"
)


def make_tokenizer(template=TEMPLATE):
    """Bytes as tokens, with one merge across a space, and one special token."""
    symbols = sorted(pre_tokenizers.ByteLevel.alphabet())
    ids = {symbol: number for number, symbol in enumerate([*symbols, "Ġt"])}
    backend = Tokenizer(models.BPE(vocab=ids, merges=[("Ġ", "t")]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    backend.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, eos_token="<end>", chat_template=template
    )


def make_model(seed=0, **changed):
    torch.manual_seed(seed)
    size = {"hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 2}
    config = LlamaConfig(
        vocab_size=258,
        num_hidden_layers=2,
        max_position_embeddings=LONGEST,
        initializer_range=0.5,
        eos_token_id=257,
        **size | changed,
    )
    return LlamaForCausalLM(config).eval()


def ask(prompt, **decoding):
    return Request(prompt=prompt, decoding=Decoding(**{"max_tokens": 12} | decoding))
