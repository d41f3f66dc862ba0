"""Responses generated from nuggets, with the provenance of each sentence.

Stages: `detection` (spans in passages) -> `clusters` and their ranking -> `responses` (a sentence
for each of the top clusters, with its provenance). `autonuggetizer`, `entailment`, `faithfulness`
and `lexical_judge` score the responses.
"""
