"""Readers that turn released data files into validated frames, and synthetic collections."""
