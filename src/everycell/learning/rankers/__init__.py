"""Rankers that can be trained or used, one per module (see `everycell.learning.ranker`)."""
