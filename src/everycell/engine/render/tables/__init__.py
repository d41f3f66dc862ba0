"""Tables: how a tidy frame is laid out, its shown forms and their files."""
