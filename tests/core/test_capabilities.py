"""What works at a feature tier, with the parts that are really there."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ollama_server import ollama_server
from support import AbsentEmbedder

from mnemic.core.capabilities import capabilities
from mnemic.embedding.local import ENGLISH, LocalEmbedder
from mnemic.llm_client.ollama import Ollama
from mnemic.model.enums import Features

LANGUAGE = ("query_expansion", "auto_consolidation", "auto_tagging", "contradiction_analysis")


@pytest.fixture
def local(ctx):
    """A context whose model is the one that ships, not loaded."""
    return replace(ctx, embedder=LocalEmbedder())


@pytest.fixture
def ollama():
    with ollama_server() as server:
        yield Ollama(server.url, "small")


def working(got) -> set[str]:
    return {name for name, works in got.features.items() if works}


def test_words_alone(ctx):
    got = capabilities(replace(ctx, embedder=None, features=Features.KEYWORD))
    assert (got.tier, working(got)) == (Features.KEYWORD, {"keyword_search"})
    assert (got.embedding, got.embedding_dim, got.language, got.reranker, got.message) == (
        None,
        0,
        None,
        None,
        None,
    )
    assert len(got.features) == 9


def test_with_the_model_that_ships_and_without_loading_it(local):
    got = capabilities(local)
    assert (got.tier, got.asked) == (Features.SEMANTIC, Features.SEMANTIC)
    assert working(got) == {"keyword_search", "semantic_search", "hybrid_recall"}
    assert "granite" in got.embedding and got.embedding_dim == 384 and got.message is None
    assert local.embedder._model is None


def test_with_a_language_model(local, ollama):
    got = capabilities(replace(local, features=Features.SMART, language=ollama))
    assert (got.tier, got.language, got.reranker, got.message) == (Features.SMART, "small", None, None)
    assert working(got) == {"keyword_search", "semantic_search", "hybrid_recall", *LANGUAGE}


def test_with_everything(local, ollama):
    got = capabilities(replace(local, features=Features.AUTONOMOUS, language=ollama))
    assert got.tier is Features.AUTONOMOUS and all(got.features.values())
    assert got.reranker.startswith("lexical-fallback")


@pytest.mark.parametrize("asked", [Features.SMART, Features.AUTONOMOUS])
def test_without_a_reachable_language_model_the_semantic_tier_is_in_force(local, asked):
    got = capabilities(replace(local, features=asked, language=Ollama("127.0.0.1:9", "gemma4:e2b")))
    assert (got.tier, got.asked, got.language) == (Features.SEMANTIC, asked, None)
    assert not any(got.features[name] for name in (*LANGUAGE, "memory_reflection"))
    assert (
        got.features["cross_encoder_reranking"]
        is (asked is Features.AUTONOMOUS)
        is (got.reranker is not None)
    )
    assert "gemma4:e2b" in got.message and "semantic" in got.message and "OLLAMA_HOST" in got.message


def test_without_the_parts_of_the_embedding_model_the_keyword_tier_is_in_force(ctx, ollama, tmp_path):
    lacking = replace(
        ctx,
        embedder=LocalEmbedder(replace(ENGLISH, folder=tmp_path)),
        features=Features.SMART,
        language=ollama,
    )
    got = capabilities(lacking)
    assert (got.tier, got.embedding, got.embedding_dim) == (Features.KEYWORD, None, 0)
    assert working(got) == {"keyword_search", *LANGUAGE}
    assert "lacks tokenizer.json, model.onnx" in got.message and "keyword" in got.message


def test_an_embedding_server_that_is_away_is_reported(ctx):
    got = capabilities(replace(ctx, embedder=AbsentEmbedder()))
    assert got.tier is Features.KEYWORD
    assert got.message.startswith("The embedding server does not answer. Until then")


def test_no_embedder_by_choice_is_no_fault(ctx):
    got = capabilities(replace(ctx, embedder=None))
    assert (got.tier, got.asked, got.message) == (Features.KEYWORD, Features.SEMANTIC, None)
