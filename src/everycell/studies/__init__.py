"""Experiments that several papers report: each may import them, and they import no paper."""
