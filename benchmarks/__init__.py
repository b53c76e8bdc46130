"""Speed, memory and accuracy as ratios, one module each; `python -m benchmarks` runs all of them."""
