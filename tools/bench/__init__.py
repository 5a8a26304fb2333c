"""How fast derivatives are, beside JAX, Autograd and adjoints written by hand: python -m chainrule.tools.bench"""
