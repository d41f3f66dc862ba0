"""Group bias in ranked lists, which abolghasemi2024 and chapter 4 of abolghasemi2026 print."""
