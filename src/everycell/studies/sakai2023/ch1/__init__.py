"""Chapter 1 of sakai2023."""
