"""Text processing: tokenisation, sentences, and swapping of gendered words."""
