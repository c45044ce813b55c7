"""Numbers with a fraction, as Go writes them."""

import re


def show_float(value: float) -> str:
    """Write a number without needless digits, in scientific form when very large or small."""
    if value == int(value) and abs(value) < 1e21:
        return str(int(value))
    text = repr(value)
    return re.sub(r"e([-+]?)(\d)$", r"e\g<1>0\2", text)
