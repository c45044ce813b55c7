"""Watchers: what the leader moves along by itself, each a pure step and a small loop."""
