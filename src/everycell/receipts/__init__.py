"""Receipts of results: what made them, from which inputs, and whether that still holds."""
