"""Push nodes: work is delivered to them, and they are known by their heartbeats."""
