"""What agents and servers say to each other: msgpack over HTTP."""
