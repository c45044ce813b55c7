"""Benchmarks: one module per thing timed, each with its targets."""
