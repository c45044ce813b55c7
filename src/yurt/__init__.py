"""Yurt: a workload orchestrator that speaks Nomad's API."""
