"""The last lines of a stream whose end is fetched by bytes."""

DEFAULT_TAIL_LINES = 10
# Enough bytes for the lines asked for, unless they are very long.
BYTES_PER_LINE = 120


def keep_last_lines(text: bytes, lines: int) -> bytes:
    """Cut a text to its last lines; a last line without a newline counts."""
    position = len(text) - 1 if text.endswith(b"\n") else len(text)
    for _ in range(lines):
        position = text.rfind(b"\n", 0, max(position, 0))
        if position < 0:
            return text
    return text[position + 1 :]
