"""Neural models: loading, encoding, scoring and training; rankers as objects.

Importing its modules imports torch, but for `everycell.learning.ranker` and the rankers.
"""
