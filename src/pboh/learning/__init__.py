"""Parameters fitted to data: grid search, pseudo-likelihood, calibration."""
