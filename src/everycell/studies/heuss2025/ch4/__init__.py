"""Chapter 4 of heuss2025."""
