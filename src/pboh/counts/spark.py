"""Run the statistics on Spark."""
