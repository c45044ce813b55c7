"""Sizes in binary units."""

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
MIB = 1024 * 1024


def format_size(size_bytes: int) -> str:
    """Write a size: whole bytes, one decimal below ten (`4.0 KiB`), none above (`24 GiB`)."""
    if size_bytes < 10:
        return f"{size_bytes} B"
    value = float(size_bytes)
    unit = 0
    while value >= 1024 and unit < len(_UNITS) - 1:
        value /= 1024
        unit += 1
    # Rounded half up to one decimal first, as the tools people compare with do.
    value = int(value * 10 + 0.5) / 10
    if unit == 0:
        return f"{size_bytes} B"
    return f"{value:.1f} {_UNITS[unit]}" if value < 10 else f"{value:.0f} {_UNITS[unit]}"
