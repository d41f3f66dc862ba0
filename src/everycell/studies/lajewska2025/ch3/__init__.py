"""Chapter 3 of lajewska2025."""
