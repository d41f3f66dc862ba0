"""Retrieval: runs, measures of rankings, interpolation of systems, significance.

Import from the modules, not from this package: a rule is rerun when code that its script imports
changes, and encoding a collection should not depend on significance tests.
"""
