"""Simulation: clusters you do not own."""
