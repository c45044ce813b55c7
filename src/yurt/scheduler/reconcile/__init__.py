"""Reconciling: what must change so that a job runs as it is written."""
