"""Responses made from nuggets, each of whose sentences keeps the spans that it came from.

Stages: `detection` (spans in passages) -> `clusters` -> `ranking` of clusters -> `responses` (a
sentence for each of the first clusters) -> `provenance`. `autonuggetizer`, `entailment` and
`lexical_judge` score them.
"""
