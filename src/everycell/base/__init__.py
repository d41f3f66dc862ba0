"""Helpers for files, text, YAML, settings and arrays, below records and papers."""
