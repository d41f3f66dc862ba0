"""The rankers that can be trained or used here, a module each (`everycell.learning.ranker`)."""
