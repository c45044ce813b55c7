"""Nomad's HTTP API."""
