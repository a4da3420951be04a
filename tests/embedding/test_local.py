"""The model that ships with the package, over the real files."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.embedding.local import BATCH_TEXTS, BATCH_TOKENS, ENGLISH, MULTILINGUAL, LocalEmbedder, batches
from mnemic.errors import Unavailable

TEXTS = [
    "Anna adopted a cat named Biscuit",
    "The quarterly review moved to Thursday",
    "def add(a, b): return a + b",
    "今天天气很好",
    "ok",
    "A long one. " * 200,
]


@pytest.fixture(scope="module", params=[ENGLISH, MULTILINGUAL], ids=["english", "multilingual"])
def files(request):
    return request.param


@pytest.fixture(scope="module")
def embedder(files):
    return LocalEmbedder(files)


def moved(folder):
    """The English model, if its files were in *folder*."""
    return LocalEmbedder(replace(ENGLISH, folder=folder))


def test_vectors_have_length_one(embedder):
    vectors = embedder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.dimension)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)


def test_a_text_has_the_same_vector_alone_and_among_others(embedder):
    together = embedder.embed(TEXTS * 10)
    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
    assert (together * np.tile(alone, (10, 1))).sum(axis=1) == pytest.approx(1, abs=1e-4)


def test_no_texts_give_no_vectors(embedder):
    assert embedder.embed([]).shape == (0, embedder.dimension)


@pytest.mark.parametrize(
    "question, near, far",
    [
        ("What is my cat called?", "Anna adopted a cat named Biscuit", "The server listens on port 8080"),
        ("When is the review?", "The meeting was moved to Thursday at ten", "Garlic and olive oil, simmered"),
        ("Which database do we use?", "We chose PostgreSQL for the team store", "She ran her first marathon"),
    ],
)
def test_what_belongs_together_is_nearer(question, near, far, model):
    asked, close, distant = model.embed([question, near, far])
    assert asked @ close > asked @ distant + 0.2


@pytest.mark.parametrize(
    "text", ["", " ", "\0", "a\0b", "\ud800", "x\udfffy" * 300, "[SEP] [CLS] [PAD]", "\u200b"]
)
def test_odd_texts_have_vectors_too(embedder, text):
    assert np.isfinite(embedder.embed([text])).all()


def test_what_looks_like_a_special_token_is_text(embedder):
    plain, marked = embedder.embed(["the cat", "the [PAD] [PAD] cat"])
    assert plain @ marked < 0.999


@settings(deadline=None, max_examples=50)
@given(st.text(max_size=400))
def test_any_text_has_a_vector(embedder, text):
    assert np.linalg.norm(embedder.embed([text])) == pytest.approx(1, abs=1e-5)


@given(st.lists(st.integers(2, 256), max_size=200))
def test_batches_hold_every_text_once_and_stay_small(lengths):
    made = list(batches(lengths))
    assert sorted(place for batch in made for place in batch) == list(range(len(lengths)))
    for batch in made:
        assert len(batch) <= BATCH_TEXTS
        assert len(batch) * max(lengths[place] for place in batch) <= BATCH_TOKENS


def test_threads_that_start_together_load_once_and_agree():
    fresh = LocalEmbedder()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(fresh.embed, [TEXTS] * 16))
    assert all(np.array_equal(answer, answers[0]) for answer in answers)


def test_importing_it_is_light():
    heavy = "{'numpy', 'onnxruntime', 'tokenizers', 'httpx'}"
    code = f"import sys, mnemic.embedding.local, mnemic.embedding.remote; print({heavy} & set(sys.modules))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "set()"


def test_a_missing_model_is_named(tmp_path):
    with pytest.raises(Unavailable, match="model could not be loaded"):
        moved(tmp_path).embed(["text"])


def test_a_damaged_model_is_named(tmp_path):
    (tmp_path / "tokenizer.json").write_bytes((ENGLISH.folder / "tokenizer.json").read_bytes())
    (tmp_path / "model.onnx").write_bytes(b"not a graph")
    with pytest.raises(Unavailable, match="model could not be loaded"):
        moved(tmp_path).load()


def test_the_files_are_the_ones_that_were_checked(files):
    about = json.loads((files.folder / "MODEL.json").read_text())
    assert (about["name"], about["dimension"], about["tokens"]) == (files.name, files.dimension, files.tokens)
    assert about["licence"] == "Apache-2.0" and about["origin"] and about["source_sha256"]
    assert about["sha256"].keys() == {"model.onnx", "table.bin", "tokenizer.json"}
    for name, expected in about["sha256"].items():
        assert hashlib.sha256((files.folder / name).read_bytes()).hexdigest() == expected


def test_the_runtime_leaves_nothing_and_tells_nobody(tmp_path):
    """Its own telemetry would keep an id of this machine and what it has to tell below the home folder."""
    code = "from mnemic.embedding.local import LocalEmbedder; LocalEmbedder().embed(['a text'])"
    here = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, "-c", code], env=here, check=True)
    assert list(tmp_path.rglob("*")) == []
