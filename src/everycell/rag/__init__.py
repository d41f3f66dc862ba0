"""Responses generated from retrieved passages: how they are scored and judged."""
