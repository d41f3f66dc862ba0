"""Measures that the papers introduce."""
