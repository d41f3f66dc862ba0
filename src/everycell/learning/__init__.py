"""Neural models: loading, encoding, scoring and training; rankers as objects.

All modules import torch, except the rankers.
"""
