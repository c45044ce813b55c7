"""Devices that tasks are given whole: which there are, and what a task needs to use its own."""
