"""Consul, where the node has an agent of it: services, their checks, keys for templates."""
