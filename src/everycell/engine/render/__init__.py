"""What a reader sees: tables, figures and the reproduction page."""
