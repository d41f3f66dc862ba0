"""The reproduction page: one static file that shows every artefact and what differs."""
