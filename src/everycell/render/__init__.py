"""Rendering of tables, figures and the reproduction page."""
