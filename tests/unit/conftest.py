"""Fixtures for tests of models and downloads."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from transformers import BertForMaskedLM, BertTokenizerFast

# torch and its like are imported where they are used: most test files do without them.


@pytest.fixture(scope="module")
def one_torch_thread() -> Iterator[None]:
    """Tiny models are tens of times slower on several threads of a busy machine."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def tokenizer(request: pytest.FixtureRequest) -> BertTokenizerFast:
    """Return a tokenizer that splits at white space; its vocabulary is WORDS of the test file."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertTokenizerFast

    ids = {word: number for number, word in enumerate(request.module.WORDS)}
    backend = Tokenizer(models.WordPiece(ids, unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer(strip_accents=False, lowercase=True)
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    ends = ((name, ids[name]) for name in ("[SEP]", "[CLS]"))
    backend.post_processor = processors.BertProcessing(*ends)
    return BertTokenizerFast(tokenizer_object=backend)


@pytest.fixture(scope="module")
def model(request: pytest.FixtureRequest) -> BertForMaskedLM:
    """Return a random model over the file's WORDS that reads up to 64 tokens."""
    import torch
    from transformers import BertConfig, BertForMaskedLM

    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(request.module.WORDS),
        hidden_size=16,
        num_attention_heads=2,
        intermediate_size=16,
        num_hidden_layers=1,
        max_position_embeddings=64,
        initializer_range=0.5,
    )
    return BertForMaskedLM(config).eval()


@pytest.fixture
def trickle(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """Start a server that sends these bytes, and then others every tenth of a second."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    ended = threading.Event()

    def serve(start: bytes, more: bytes = b"x") -> str:
        listening = socket.create_server(("127.0.0.1", 0))

        def answer() -> None:
            with listening, suppress(OSError), listening.accept()[0] as client:
                client.recv(10_000)
                client.sendall(start)
                while not ended.wait(0.1):
                    client.sendall(more)

        threading.Thread(target=answer, daemon=True).start()
        return f"http://127.0.0.1:{listening.getsockname()[1]}/a.run"

    yield serve
    ended.set()


#: Starts of answers that go on for ever, and how: in the middle of a line, with more headers, or
#: with more preliminary answers.
ENDLESS_HEADERS = [
    (b"HTTP/1.1 200 ", b"O"),
    (b"HTTP/1.1 200 OK\r\nX: ", b"x"),
    (b"HTTP/1.1 200 OK\r\n", b"X: x\r\n"),
    (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
]


@pytest.fixture(params=ENDLESS_HEADERS, ids=["status", "header", "headers", "continue"])
def endless_headers(trickle: Callable[..., str], request: pytest.FixtureRequest) -> str:
    """Return the address of a server whose headers never end."""
    return trickle(*request.param)
