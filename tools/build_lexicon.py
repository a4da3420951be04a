"""Build the English word relations of `mnemic.core.trust.lexicon` from the WordNet 3.0 database files.

    python tools/build_lexicon.py /usr/share/wordnet

The files are those of Debian's package `wordnet-base`. Written are the words with their parts of speech, irregular
forms, and, for the more frequent senses only, synonyms, direct hypernyms, antonyms and derived words.
"""

from __future__ import annotations

import gzip
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

TARGET = Path(__file__).parent.parent / "src/mnemic/core/trust/data/wordnet.tsv.gz"
PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
SENSES = {"n": 2, "v": 4, "a": 3, "s": 3, "r": 2}
"""Senses of a word that count, the most frequent first: rare ones make synonyms of words that nobody exchanges."""
ANTONYM, HYPERNYM, DERIVED, SIMILAR = "!", "@", "+", "&"

Key = tuple[str, str]
Synset = tuple[list[str], list[tuple[str, Key, int, int]]]


def main(folder: Path) -> None:
    """Read the database in *folder* and write the word list."""
    synsets = {key: synset for part in PARTS for key, synset in _synsets(folder, part)}
    senses = {part: _senses(folder, part) for part in PARTS}
    relations: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for part, letter in PARTS.items():
        for word, offsets in senses[part].items():
            relations[word]["parts"].add(letter)
            for offset in offsets[: SENSES[letter]]:
                _relate(relations[word], word, (letter, offset), synsets, senses)
    forms = _irregular(folder)
    lines = (_line(word, found, forms.get(word, ())) for word, found in sorted(relations.items()))
    kept = list(lines)
    with TARGET.open("wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as file:
        file.write("\n".join(kept).encode())
    print(f"{len(kept):,} words, {TARGET.stat().st_size / 1000:,.0f} kB")


def _rows(path: Path) -> Iterator[list[str]]:
    for line in path.read_text().splitlines():
        if not line.startswith(" "):
            yield line.split("|")[0].split()


def _synsets(folder: Path, part: str) -> Iterator[tuple[Key, Synset]]:
    for row in _rows(folder / f"data.{part}"):
        count = int(row[3], 16)
        words = [row[4 + 2 * place].split("(")[0].lower() for place in range(count)]
        start = 4 + 2 * count
        pointers = row[start + 1 : start + 1 + 4 * int(row[start])]
        links = [
            (pointers[at], (_part(pointers[at + 2]), pointers[at + 1]), *_ends(pointers[at + 3]))
            for at in range(0, len(pointers), 4)
        ]
        yield (PARTS[part], row[0]), (words, links)


def _part(letter: str) -> str:
    return "a" if letter == "s" else letter


def _ends(text: str) -> tuple[int, int]:
    return int(text[:2], 16), int(text[2:], 16)


def _senses(folder: Path, part: str) -> dict[str, list[str]]:
    found = {}
    for row in _rows(folder / f"index.{part}"):
        word, count = row[0], int(row[2])
        is_frequent = part in ("verb", "adj") or int(row[-count - 1]) > 0
        if is_frequent and _is_kept(word, part):
            found[word] = row[-count:]
    return found


def _is_kept(word: str, part: str) -> bool:
    pieces = word.split("_")
    return all(piece.isalpha() and piece.isascii() for piece in pieces) and len(pieces) <= (
        2 if part in ("verb", "adv") else 1
    )


def _relate(
    found: dict[str, set[str]],
    word: str,
    key: Key,
    synsets: dict[Key, Synset],
    senses: dict[str, dict[str, list[str]]],
) -> None:
    words, links = synsets[key]
    place = words.index(word) + 1 if word in words else 0
    found["synonyms"].update(_frequent(words, key, senses))
    for kind, target, source_word, target_word in links:
        others = synsets[target][0]
        if kind == ANTONYM and source_word in (0, place):
            found["antonyms"].add(others[target_word - 1])
        elif kind == HYPERNYM:
            found["hypernyms"].update(_frequent(others, target, senses))
        elif kind == DERIVED and source_word in (0, place):
            found["derived"].add(others[target_word - 1])
        elif kind == SIMILAR:
            found["antonyms"].update(_opposites(target, synsets))


def _opposites(key: Key, synsets: dict[Key, Synset]) -> Iterator[str]:
    """The antonyms of the head of a cluster of adjectives, which oppose its satellites too."""
    for kind, target, _, target_word in synsets[key][1]:
        if kind == ANTONYM:
            yield synsets[target][0][target_word - 1]


def _frequent(words: list[str], key: Key, senses: dict[str, dict[str, list[str]]]) -> Iterator[str]:
    """Those of *words* for which this meaning is one of the more frequent."""
    letter, offset = key
    part = next(name for name, one in PARTS.items() if one == letter)
    return (word for word in words if offset in senses[part].get(word, [])[: SENSES[letter]])


def _irregular(folder: Path) -> dict[str, set[str]]:
    forms: dict[str, set[str]] = defaultdict(set)
    for part in PARTS:
        for form, *bases in _rows(folder / f"{part}.exc"):
            for base in bases:
                if form.isalpha():
                    forms[base].add(form)
    return forms


def _line(word: str, found: dict[str, set[str]], forms: set[str] | tuple[()]) -> str:
    names = ("synonyms", "hypernyms", "antonyms", "derived")
    cells = [sorted({one for one in found[name] if one != word and one.isascii()}) for name in names]
    lists = ("".join(sorted(found["parts"])), *map(" ".join, (sorted(forms), *cells)))
    return "\t".join((word, *lists)).rstrip("\t")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
