"""Readers of the released data: files in, validated frames out."""
