"""Fit a model of the CO2 in the air to 44 years of measurements: python -m chainrule.tools.demo"""

from importlib.resources import files
from statistics import median
from time import perf_counter

import numpy as np
from optree import tree_map
from optree.integrations.numpy import tree_ravel
from scipy.optimize import minimize

import chainrule as cr


def loss(p, year, ppm):
    """How surprising the measurements are, each one given those before it: the mean of -log(likelihood)."""
    t = (year - 1980) / 20
    trend = p["level"] + p["slope"] * t + p["bend"] * t**2
    angle = 2 * np.pi * year[:, None] * np.arange(1, 4)
    season = np.cos(angle) @ p["cos"] + np.sin(angle) @ p["sin"]
    rest = ppm - trend - (1 + p["growth"] * t) * season

    gain = 1 / (1 + np.exp(-p["gain"]))
    surprise = np.empty_like(rest)
    expected = 0.0
    for i in range(len(rest)):
        surprise[i] = rest[i] - expected
        expected += gain * surprise[i]
    return p["spread"] + 0.5 * np.mean(surprise**2) * np.exp(-2 * p["spread"])


def measurements():
    """Decimal years and monthly mean concentrations; data/README.md names their source."""
    with files("chainrule.tools").joinpath("data/mauna_loa_co2.csv").open() as file:
        return np.loadtxt(file, delimiter=",", skiprows=1).T.copy()


def start(ppm):
    """Where the fit starts: no trend, hardly a season, and everything uncertain."""
    scalars = dict.fromkeys(("slope", "bend", "growth", "gain"), 0.0)
    p = {"level": ppm.mean(), "spread": 2.0, "cos": np.full(3, 0.1), "sin": np.full(3, 0.1), **scalars}
    return tree_map(np.asarray, p)


def central_differences(f, p, *data, step=1e-6):
    """The gradient of f as one has it without derivatives: two calls for each parameter."""
    flat, unravel = tree_ravel(p)
    bumps = step * np.eye(len(flat))
    return [(f(unravel(flat + bump), *data) - f(unravel(flat - bump), *data)) / (2 * step) for bump in bumps]


def fit(f, p, *data):
    """Where quasi-Newton steps from p end; f gives the loss and its gradient."""
    flat, unravel = tree_ravel(p)
    steps = 0

    def both(flat):
        value, slopes = f(unravel(flat), *data)
        return float(value), tree_ravel(slopes)[0]

    def report(intermediate_result):
        nonlocal steps
        steps += 1
        if steps in (1, 2, 3, 5) or steps % 10 == 0:
            print(f"  step {steps:3}: loss {intermediate_result.fun:8.4f}")

    print(f"  step   0: loss {both(flat)[0]:8.4f}")
    found = minimize(both, flat, jac=True, callback=report, method="BFGS", options={"gtol": 1e-6})
    print(f"  step {steps:3}: loss {found.fun:8.4f}, largest slope {abs(found.jac).max():.1e}")
    return unravel(found.x)


def race(rounds, **runners):
    """Median seconds a call of each (function, calls a round), the runners taking turns."""
    seconds = {name: [] for name in runners}
    for _ in range(rounds):
        for name, (run, calls) in runners.items():
            began = perf_counter()
            for _ in range(calls):
                run()
            seconds[name].append((perf_counter() - began) / calls)
    return {name: median(times) for name, times in seconds.items()}


def main():
    year, ppm = measurements()
    p = start(ppm)
    print(f"CO2 at Mauna Loa: {len(ppm)} months, from {ppm[0]:.1f} ppm in 1958 to {ppm[-1]:.1f} in 2001.")

    print("\nThe fit:")
    compiled = cr.jit(cr.value_and_grad(loss))
    began = perf_counter()
    compiled(p, year, ppm)
    ready = perf_counter() - began
    p = fit(compiled, p, year, ppm)
    rise = (p["slope"] + 2 * p["bend"] * (year[-1] - 1980) / 20) / 20
    swing = 2 * p["growth"] / (1 - p["growth"])
    stays = 1 / (1 + np.exp(-p["gain"]))
    print(f"In 2001 CO2 rises by {rise:.2f} ppm a year; since 1960 its season has grown by {swing:.0%}.")
    print(f"A month is foretold to {np.exp(p['spread']):.2f} ppm; {stays:.0%} of a surprise stays for good.")

    print("\nThe gradient, as chainrule wrote it:\n")
    print(cr.source(cr.grad(loss))(p, year, ppm))

    slopes = tree_ravel(compiled(p, year, ppm)[1])[0]
    apart = abs(slopes - central_differences(loss, p, year, ppm)).max()
    times = race(
        15,
        compiled=(lambda: compiled(p, year, ppm), 100),
        plain=(lambda: loss(p, year, ppm), 10),
        differences=(lambda: central_differences(loss, p, year, ppm), 1),
    )
    print(f"\nThe time of a call, after {ready:.1f} s to compile:")
    print(f"  loss and gradient, compiled       {1e6 * times['compiled']:8.1f} us")
    for name, words in ("plain", "loss alone, NumPy"), ("differences", "central differences, NumPy"):
        ratio = times[name] / times["compiled"]
        print(f"  {words:33} {1e6 * times[name]:8.1f} us: the compiled one is {ratio:,.1f} times as fast")
    print(f"The two gradients differ by {apart:.0e} at most.")


if __name__ == "__main__":
    main()
