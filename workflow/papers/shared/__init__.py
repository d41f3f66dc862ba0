"""Stages of retrieval, and the experiment on group bias: several papers use them."""
