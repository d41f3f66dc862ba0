"""What a conversational system answers from: snippets of passages, and whether there are any."""
