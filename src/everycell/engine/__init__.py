"""What every study rests on: cards, verdicts, receipts, pages. It names no paper."""
