"""A module whose functions have the names of others elsewhere."""
K = 7.0


def scale(x):
    return x * K


def apply(x):
    return scale(x) + 1
