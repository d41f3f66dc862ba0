"""Chapter 7 of lajewska2025."""
