"""Feasibility: which nodes a group may run on, one file per rule."""
