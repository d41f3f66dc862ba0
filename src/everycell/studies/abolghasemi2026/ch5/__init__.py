"""Chapter 5 of abolghasemi2026."""
