"""Simulated nodes: they join a running server through the door that real agents use, and run nothing."""
