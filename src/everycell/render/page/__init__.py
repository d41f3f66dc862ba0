"""The reproduction page: static HTML pages with every artefact and its differences."""
