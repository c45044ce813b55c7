"""The version of Yurt, and the Nomad version whose API it speaks."""

VERSION = "0.1.0"

# Constraints and clients compare `attr.nomad.version`; this is the release whose behaviour we match.
NOMAD_VERSION = "2.0.6"
