"""The basis of every study: cards, verdicts, receipts, pages. It names no paper."""
