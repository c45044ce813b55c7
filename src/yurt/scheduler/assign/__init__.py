"""Assigning what a placement gets on its node: ports, cores, devices."""
