"""Tables: the layout of tidy frames, and their output formats."""
