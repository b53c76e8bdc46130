"""Small models: a model pruned to what decides answers, and stored compressed."""
