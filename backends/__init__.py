"""A core program to something that runs."""
