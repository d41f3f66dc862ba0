"""Chapter 6 of lajewska2025."""
