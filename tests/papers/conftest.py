"""Fixtures of models, as the tests of the library have them."""

from unit.conftest import one_torch_thread, tokenizer

__all__ = ["one_torch_thread", "tokenizer"]
