"""Chapter 3 of heuss2025."""
