"""Chapter 5 of heuss2025."""
