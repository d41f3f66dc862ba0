"""Chapter 4 of lajewska2025."""
