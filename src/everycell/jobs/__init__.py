"""Contexts of the scripts and functions that rules run: log, checks of inputs, receipts."""

from everycell.records.folders import import_papers

# Scripts import code of papers before their context is made.
import_papers()
