"""From text to index terms."""
