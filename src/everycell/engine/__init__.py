"""Records, verdicts, receipts and pages, independent of any particular paper."""
