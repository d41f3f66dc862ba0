"""Language models, here or behind an endpoint, and the record of what they answered."""
