"""The server: what happens around the pure core."""
