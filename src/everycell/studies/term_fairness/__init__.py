"""Group bias in ranked lists: abolghasemi2024, and chapter 4 of abolghasemi2026."""
