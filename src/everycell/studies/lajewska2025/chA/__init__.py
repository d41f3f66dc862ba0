"""Chapter A of lajewska2025."""
