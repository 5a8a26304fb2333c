"""Plain NumPy: eager, for debugging."""
