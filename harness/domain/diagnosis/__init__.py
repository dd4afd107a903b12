"""Where a training first goes wrong: data, compute, optimisation or metric state.

Made from the facts of watched trials.
"""
