"""The configuration as `GET /v1/agent/self` shows it, in Nomad's names and shape."""
