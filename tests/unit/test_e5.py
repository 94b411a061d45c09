"""The small model on numpy; only where its weights are installed (the extra ``e5``)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from muniment.errors import Unavailable
from muniment.providers.e5 import DIMENSION, E5, weights_path

needs_weights = pytest.mark.skipif(weights_path() is None, reason="the extra e5 is not installed")


@pytest.fixture(scope="module")
def e5() -> E5:
    """One for all tests: reading the weights takes a moment."""
    return E5()


@needs_weights
def test_what_means_alike_is_near_in_two_languages(e5: E5) -> None:
    """Nearer than what does not."""
    asked = e5.embed(["早上喝什么"], query=True)[0]
    near, far, other = e5.embed(
        ["The user drinks an espresso every morning", "The port is 8080", "用户早上爱喝美式咖啡"]
    )
    assert near @ asked > far @ asked and other @ asked > far @ asked


@needs_weights
@pytest.mark.parametrize(
    ("text", "query", "begins"),
    [
        ("The user prefers coffee over tea", False, [0.0103, -0.0079, -0.0355, -0.0971, 0.1109]),
        ("用户早上爱喝美式咖啡", False, [0.0611, -0.0140, -0.0174, -0.0441, 0.1421]),
        (
            "deploy-config.yml needs review, 请先确认",
            False,
            [0.0399, -0.0032, -0.0413, -0.0613],
        ),
        ("早上喝什么", True, [0.0554, -0.0123, -0.0044, -0.0638, 0.1295]),
    ],
)
def test_it_is_the_model_it_says(text: str, query: bool, begins: list[float]) -> None:
    """The first numbers as another engine computes them from the same weights."""
    [row] = E5(centred=False).embed([text], query=query)
    assert row[: len(begins)] == pytest.approx(begins, abs=3e-3)


@needs_weights
def test_a_text_has_one_vector_whatever_stands_beside_it(e5: E5) -> None:
    """Neither padding nor order changes it; all are unit vectors."""
    texts = ["short", "a text that is a good deal longer than the first of them", "咖啡", ""]
    together = e5.embed(texts)
    alone = np.concatenate([e5.embed([t]) for t in texts])
    assert together.shape == (4, DIMENSION) and together.dtype == np.float32
    assert np.abs(together - alone).max() < 1e-4
    assert np.allclose(np.linalg.norm(together, axis=1), 1.0, atol=1e-5)


@needs_weights
@pytest.mark.parametrize(
    "text", ["\ufdfa" * 50, "\x00", "\ud800 half a pair", "a" * 50_000, "🙂" * 3_000, "\u200b"]
)
def test_hostile_texts_have_a_vector_too(e5: E5, text: str) -> None:
    """Finite, and in a bounded time: what is too long is cut."""
    assert np.isfinite(e5.embed([text])).all()


def test_another_file_is_refused(tmp_path: Path) -> None:
    """By its digest, before anything of it is read."""
    file = tmp_path / "weights.bin"
    file.write_bytes(b"E5S1" + bytes(100))
    with pytest.raises(Unavailable) as caught:
        E5(file).embed(["a"])
    assert caught.value.code == "embedder.foreign"
