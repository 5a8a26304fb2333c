"""How fast derivatives are, beside JAX, Autograd and code by hand: python -m chainrule.tools.bench"""
