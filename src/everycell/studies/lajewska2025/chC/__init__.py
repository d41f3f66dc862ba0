"""Chapter C of lajewska2025."""
