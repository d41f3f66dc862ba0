"""Chapter 2 of heuss2025."""
