"""Papers, artefacts, claims, published cells and released files, as records describe them."""
