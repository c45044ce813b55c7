"""Addresses of this machine, and the templates that choose among them."""
