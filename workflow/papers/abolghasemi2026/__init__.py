"""abolghasemi2026."""
