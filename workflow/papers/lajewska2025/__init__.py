"""lajewska2025."""
