"""Logging in with the word of somebody who vouches: signed tokens, and OpenID Connect."""
