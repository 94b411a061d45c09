"""The middle of an embedder's vectors in each language: ``python -m bench.centre``.

Small models put every text into one narrow cone, another one for each language, so that raw
cosines tell little and a question finds its own language first.  `muniment.providers.e5` takes the
middle away.  It is made of this project's own sentences, in `tests/golden`, and of no data set by
which retrieval is measured.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from muniment.text import language

GOLDEN = Path(__file__).resolve().parents[1] / "tests" / "golden"
_ENDS = re.compile(r"[。！？\n]|(?<=[.!?]) ")
_CHARS = range(8, 200)


def sentences(folder: Path = GOLDEN) -> dict[str, list[str]]:
    """The sentences of a folder's YAML files by language, each once."""
    found: dict[str, set[str]] = {"en": set(), "zh": set()}
    for file in sorted(folder.glob("*.yaml")):
        for document in yaml.safe_load_all(file.read_text("utf-8")):
            for text in _texts(document):
                for part in map(str.strip, _ENDS.split(text)):
                    if len(part) in _CHARS and not (part.isascii() and " " not in part):
                        found["zh" if language(part) == "zh" else "en"].add(part)
    return {tongue: sorted(texts) for tongue, texts in found.items()}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def main() -> int:
    """Write the middle beside the embedder, and print of how much it was made."""
    import numpy as np

    from muniment.providers import e5

    embedder = e5.E5(centred=False)
    rows = []
    for tongue in e5.TONGUES:
        texts = sentences()[tongue]
        rows.append(np.mean(embedder.embed(texts), axis=0))
        print(
            f"{tongue}: {len(texts)} sentences, length of the middle {np.linalg.norm(rows[-1]):.3f}"
        )
    target = resources.files("muniment.providers").joinpath(e5.CENTRE)
    with resources.as_file(target) as file:
        np.save(file, np.array(rows, dtype=np.float32))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
