import re
from collections.abc import Iterator
from pathlib import Path

from yurt.config.blocks.agent import FileConfig
from yurt.config.blocks.base import Block
from yurt.config.schema import keys_of

PAGE = Path(__file__).parents[2] / "docs/configuration.md"


def served_keys(block: type[Block]) -> Iterator[str]:
    for key, spec in keys_of(block).items():
        if key not in block.UNSERVED:
            yield key
            if spec.block is not None:
                yield from served_keys(spec.block)


def test_the_page_names_every_key() -> None:
    words = set(re.findall(r"[a-z0-9_]+", PAGE.read_text()))
    assert [key for key in served_keys(FileConfig) if key not in words] == []
