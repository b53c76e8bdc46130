"""Parameters fitted to data: grid search, weights, calibration, and pseudo-likelihood in a room of its own.

Order of rooms: ``linker → evaluation → learning``. Learning asks evaluation how good a setting is; evaluation
never imports learning.
"""
