"""Chapter 2 of abolghasemi2026."""
