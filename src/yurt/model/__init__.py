"""The nouns of Yurt: frozen Structs with Nomad's JSON names."""
