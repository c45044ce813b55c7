"""Limits that keep the reading of one file bounded, whoever wrote it."""

SOURCE_CHARACTERS_MAX = 1024 * 1024
"""Longest text that is lexed at all; real job files stay below 100 KB."""

NESTING_DEPTH_MAX = 48
"""Deepest nesting of blocks and expressions.

One level costs up to ten Python frames in the parser, so this stays well below the interpreter's limit
of 1000 frames, whatever the caller's own depth.
"""

NUMBER_BITS_MAX = 2048
"""Largest magnitude of a number, as a power of two; keeps `1e999999999` from filling the memory."""

STRING_CHARACTERS_MAX = 2 * 1024 * 1024
"""Longest string that an expression may build."""

COLLECTION_ITEMS_MAX = 65_536
"""Most items of one collection that an expression may build."""

VALUE_DEPTH_MAX = 64
"""Deepest nesting of lists and objects in a value that an expression builds."""

WORK_MAX = 500_000
"""Most steps that evaluating one file may take: expressions visited, values copied, characters produced.

A job file of 500 lines takes about 800. Half a million take about one second.
"""

CHARACTERS_PER_STEP = 32
"""How many characters of produced text count as one step."""

SUGGESTIONS_MAX = 50
"""How many problems of a file get a suggestion; finding one takes longer than finding the problem."""
