"""Topics: which of several texts belong together, and what to call each group."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import inf, log
from typing import TYPE_CHECKING

from mnemic.search.query import STOP_WORDS

if TYPE_CHECKING:
    from mnemic.model.vectors import Vectors
    from mnemic.numeric import np, npt

Topics = Mapping[str, Sequence[str]]
"""Texts by the name of their topic."""

CUT = 0.5
"""Groups whose texts are farther apart than this on average (1 - cosine) stay apart."""
NAMED_BY = 2
KEYWORDS = 10
FEWEST_HALVED = 4
_WORD = re.compile(r"\b[^\W\d_]{4,}\b")
# Spanish words that tell nothing of a subject; shorter ones are never looked at.
SPANISH_STOP_WORDS = frozenset(
    """
    ahora algo alguien alguna algunas alguno algunos algún allí ambos ante antes aquel aquella aquellas aquello
    aquellos aquí arriba aunque bajo bastante bien cada casi cerca cierta cierto como cómo conmigo contra cosa
    cosas cual cuales cualquier cuando cuándo cuanto cuya cuyo cuál dado debe deben debido decir dejar demás
    dentro desde después detrás dice dicho donde dónde durante ella ellas ello ellos embargo encima entonces
    entre eran eres esas eso esos esta estaba estaban estado estamos estar estará estas este esto estos estoy
    está están fuera fueron gran grande había habían haber habrá hace hacen hacer hacia haciendo hasta hecho
    hemos hubo incluso jamás junto lejos luego mayor mediante mejor menos mientras misma mismas mismo mismos
    mucha muchas mucho muchos nada nadie ninguna ninguno ningún nosotros nuestra nuestras nuestro nuestros
    nunca otra otras otro otros para parece parte pero poca pocas poco pocos podemos poder podría porque pueda
    puede pueden pues queda quien quienes quién quiere quizá quizás respecto sean seguir según será serán sería
    sido siempre siendo siguiente sino sobre sola solamente solo sólo somos suya suyas suyo suyos sólo tal tales
    también tampoco tanta tanto tenemos tener tenga tengo tenía tiempo tiene tienen toda todas todavía todo
    todos tras tuvo unas unos usted ustedes vamos varias varios veces vosotros vuestra vuestro
    """.split()
)
STOPPED = STOP_WORDS | SPANISH_STOP_WORDS


def topics_of(texts: Sequence[str], vectors: Vectors | None, label: str) -> Topics:
    """*texts* grouped by meaning; by words where there are no vectors, or where meaning parts all or nothing.

    A group that has no telling word is called *label* and a number.
    """
    if vectors is not None and len(texts) > 1:
        groups = grouped(vectors)
        if 1 < len(groups) < len(texts):
            return _named([[texts[place] for place in group] for group in groups], label)
    return by_words(texts, label)


def grouped(vectors: Vectors, cut: float = CUT) -> list[list[int]]:
    """The places of unit *vectors* in groups, by average linkage on cosine distance; each group in order.

    Follows chains of nearest neighbours: two groups that are nearest to each other are joined, or, if they are
    farther apart than *cut*, done with, since nothing joined later can come nearer than its parts were.
    """
    distances = 1.0 - (vectors @ vectors.T).astype("float64")
    distances.flat[:: len(vectors) + 1] = inf
    members: dict[int, list[int]] = {place: [place] for place in range(len(vectors))}
    done: list[list[int]] = []
    chain: list[int] = []
    while len(members) > 1:
        chain = chain or [next(iter(members))]
        here = chain[-1]
        near = int(distances[here].argmin())
        before = chain[-2] if len(chain) > 1 else None
        if before is None or distances[here, near] < distances[here, before]:
            chain.append(near)
            continue
        del chain[-2:]
        if distances[here, before] > cut:
            done += [members.pop(here), members.pop(before)]
            distances[[here, before]] = distances[:, [here, before]] = inf
        else:
            _join(distances, members, here, before)
    return sorted(map(sorted, (*done, *members.values())))


def _join(distances: npt.NDArray[np.float64], members: dict[int, list[int]], gone: int, kept: int) -> None:
    """Merge *gone* into *kept*; the distance is the mean, weighted by members."""
    ours, theirs = len(members[kept]), len(members[gone])
    mean = (ours * distances[kept] + theirs * distances[gone]) / (ours + theirs)
    distances[kept] = distances[:, kept] = mean
    distances[kept, kept] = inf
    distances[gone] = distances[:, gone] = inf
    members[kept] += members.pop(gone)


def significant_words(text: str) -> list[str]:
    """Words of *text* that may name a topic: four letters or more, not common to all."""
    return [word for word in _WORD.findall(text.lower()) if word not in STOPPED]


def _named(groups: Sequence[Sequence[str]], label: str) -> dict[str, Sequence[str]]:
    """Each group with the words that are more frequent in it than in the others."""
    counts = [Counter(word for text in group for word in significant_words(text)) for group in groups]
    spread = Counter(word for count in counts for word in count)
    named: dict[str, Sequence[str]] = {}
    for number, (group, count) in enumerate(zip(groups, counts, strict=True), 1):
        worth = {word: times * log(len(groups) / spread[word]) for word, times in count.items()}
        name = " ".join(word.capitalize() for word in _best(worth, NAMED_BY)) or f"{label}_{number}"
        named[f"{name}_{number}" if name in named else name] = group
    return named


def _best(worth: Mapping[str, float], count: int) -> list[str]:
    """The *count* words worth most; of equal ones, those that came first."""
    return sorted(worth, key=lambda word: -worth[word])[:count]


def by_words(texts: Sequence[str], label: str) -> Topics:
    """*texts* by the keyword that tells most; one without any is its own topic. Four or more are never one topic."""
    words = [significant_words(text) for text in texts]
    keywords = _keywords(words)
    topics: dict[str, list[str]] = {}
    for number, (text, held) in enumerate(zip(texts, words, strict=True), 1):
        keyword = next((word for word in keywords if word in held), None)
        topics.setdefault(keyword.capitalize() if keyword else f"{label.lower()}_{number}", []).append(text)
    if len(topics) < 2 and len(texts) >= FEWEST_HALVED:
        half = len(texts) // 2
        return {f"{label}_A": texts[:half], f"{label}_B": texts[half:]}
    return topics


def _keywords(words: Iterable[Sequence[str]]) -> list[str]:
    """The words of at least two texts that tell most (TF-IDF), the most telling first."""
    counts = [Counter(held) for held in words]
    spread = Counter(word for count in counts for word in count)
    worth: defaultdict[str, float] = defaultdict(float)
    for count in counts:
        for word, times in count.items():
            if spread[word] > 1:
                worth[word] += times / count.total() * log(len(counts) / spread[word])
    return _best(worth, KEYWORDS)
