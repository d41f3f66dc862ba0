"""Chapter 3 of abolghasemi2026."""
