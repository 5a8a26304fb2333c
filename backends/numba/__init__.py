"""Numba: one compiled function."""
