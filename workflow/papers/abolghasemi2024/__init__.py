"""abolghasemi2024."""
