"""Chapter 1 of abolghasemi2024."""
