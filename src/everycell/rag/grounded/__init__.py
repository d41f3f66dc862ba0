"""Responses generated from nuggets, with the provenance of each sentence.

Stages: `detection` (spans in passages) -> `clusters` -> `ranking` of clusters -> `responses` (a
sentence for each of the top clusters) -> `provenance`. `autonuggetizer`, `entailment`,
`faithfulness` and `lexical_judge` score the responses.
"""
