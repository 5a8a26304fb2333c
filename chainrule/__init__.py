"""The public face: what a user imports."""
