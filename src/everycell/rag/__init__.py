"""Responses generated from retrieved passages: generation, scoring and judging."""
