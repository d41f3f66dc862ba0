"""Chapter B of lajewska2025."""
