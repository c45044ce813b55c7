"""One allocation on its node: when its tasks run, how they end, what is reported."""
