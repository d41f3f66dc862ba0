"""Retrieval: runs, measures of rankings, interpolation of systems, significance.

Import from the modules: a rule runs again when code that its script imports changes, and what
encodes a collection shall not depend on the tests of significance.
"""
