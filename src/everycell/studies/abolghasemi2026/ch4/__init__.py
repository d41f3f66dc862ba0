"""Chapter 4 of abolghasemi2026."""
