"""Contexts of the scripts and functions that rules run: log, checks of inputs, receipts."""
