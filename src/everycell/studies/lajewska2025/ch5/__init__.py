"""Chapter 5 of lajewska2025."""
