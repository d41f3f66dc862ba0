"""Retrieval-augmented generation: prompts, citations, measures and judges."""
