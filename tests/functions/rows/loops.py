"""Values that come out of loops whose length is not known: growing stacks and arrays."""
import numpy as np

from tests.functions.table import real, row


def halved(x):
    total = x * 0
    while np.sum(np.abs(x)) > 0.5:
        x = np.sin(x) * 0.7
        total = total + x * x
    return total


def collected(x):
    values = []
    while x > 0.1:
        x = x * x * 0.45
        values.append(np.sin(x))
    return np.array(values)


def scanned(x):
    carry, out = 0.0, np.zeros_like(x)
    for i in range(len(x)):
        carry = np.tanh(carry + x[i])
        out[i] = carry * x[i]
    return out


def branched(x):
    y = x * 1.0
    for i in range(1, len(x)):
        if y[i - 1] > 0:
            y[i] = y[i] * y[i - 1]
        else:
            y[i] = np.cos(y[i])
    return y


ROWS = [
    row("while", halved, real(3)),
    row("an append in a while", collected, real(low=0.5, high=2.0)),
    row("a scan", scanned, real(5)),
    row("a scan with branches", branched, real(5)),
]
