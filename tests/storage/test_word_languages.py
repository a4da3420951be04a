"""The words index in many languages: scripts, stems, folding, symbols."""

from __future__ import annotations

import unicodedata

import pytest
from support import a_draft, change, put

from mnemic.model.enums import State
from mnemic.model.filter import ALL_STATES, Filter
from mnemic.model.languages import candidates
from mnemic.search.query import Vocabulary, content_words, query_terms
from mnemic.storage import queries, tokenizer
from mnemic.storage.queries import memory_numbered

FACTS = {
    "de": "Die Filialen an der Hauptstraße werden montags geschlossen.",
    "fr": "Les comédiens répètent la pièce dans la grande salle.",
    "es": "Los enólogos de la bodega catan los vinos en septiembre.",
    "ru": "Большие телескопы обсерватории включают только зимой.",
    "zh": "仓库的叉车由老孙负责保养。",
    "ja": "旅館の露天風呂は夜十一時に閉まる。",
    "ko": "게임의 배경 음악은 작곡가 윤서진이 만들었다.",
    "ar": "تفتح العيادة أبوابها في الساعة الثامنة صباحا.",
    "hi": "सहकारी समिति का दूध टैंकर सुबह पाँच बजे निकलता है।",
    "en": "The deployment of the payment services failed because parse_config raised PROJ-512.",
}
QUESTIONS = [
    ("de", "Wann ist die Filiale geschlossen?"),
    ("de", "HAUPTSTRASSE"),
    ("de", "hauptstraße"),
    ("fr", "Où est-ce que le comédien répète ?"),
    ("fr", "comedien"),
    ("es", "¿Cuándo cata el enólogo el vino?"),
    ("es", "enologo"),
    ("ru", "Когда включается большой телескоп?"),
    ("zh", "谁负责叉车的保养？"),
    ("zh", "叉车"),
    ("ja", "露天風呂は何時に閉まりますか。"),
    ("ko", "배경 음악을 누가 만들었나요?"),
    ("ar", "متى تفتح عيادة؟"),
    ("hi", "टैंकर कितने बजे निकलेगा?"),
    ("en", "Which deployments failed?"),
    ("en", "parse_config"),
    ("en", "PROJ-512"),
    ("en", "Welche Deployments sind gescheitert?"),
]


@pytest.fixture
def facts(store):
    made = put(store, *(a_draft(text, name=text) for text in FACTS.values()))
    return {memory.id: language for language, memory in zip(FACTS, made, strict=True)}


@pytest.mark.parametrize("language, question", QUESTIONS)
def test_a_question_finds_its_fact_first(store, facts, language, question):
    # Asked four times: the words are then kept in memory, and must say the same.
    for _ in range(5):
        terms = query_terms(Vocabulary(store.read(), None), question).all
        found = queries.best_words(store.read(), terms, Filter(), every=False, limit=5)
        assert facts[found[0][0]] == language


def test_all_words_of_a_question_are_found_in_any_form(store, facts):
    terms = tokenizer.question_words("Filiale Hauptstraßen", ("de",))
    [(number, _)] = queries.best_words(store.read(), terms, Filter(), every=True, limit=5)
    assert facts[number] == "de"


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_composed_and_decomposed_text_are_the_same(store, form):
    [memory] = put(store, a_draft(unicodedata.normalize(form, "Zoë trinkt Café in Málaga, ガラス")))
    for other in ("NFC", "NFD"):
        for word in ("Zoë", "café", "málaga", "ガラ"):
            terms = tokenizer.words(unicodedata.normalize(other, word))
            assert [
                number for number, _ in queries.best_words(store.read(), terms, Filter(), every=True, limit=5)
            ] == [memory.id]


def test_names_are_the_same_composed_and_decomposed(store):
    composed, decomposed = (unicodedata.normalize(form, "Zoë Müller") for form in ("NFC", "NFD"))
    [memory] = put(store, a_draft("a person", name=decomposed))
    for name in (composed, decomposed):
        assert store.read().ids_named(name, ("global",)) == [memory.id]
        assert store.read().ids_named(name, None) == [memory.id]
    assert memory_numbered(store.read(), memory.id).title == decomposed, "it comes back as it was given"
    change(store, memory, state=State.FORGOTTEN)
    assert store.read().select(Filter(name=composed, states=ALL_STATES)) == [memory.id]


@pytest.mark.parametrize("asked", ["🎉", "👍", "👍🏽", "❤", "❤️", "°"])
def test_emoji_and_symbols_are_found(store, asked):
    [memory] = put(store, a_draft("Release done🎉, reviewed 👍🏿, loved ❤️ at 20°C"))
    put(store, a_draft("Nothing here — only “quotes”"))
    terms = tokenizer.words(asked)
    assert [
        number for number, _ in queries.best_words(store.read(), terms, Filter(), every=False, limit=5)
    ] == [memory.id]


def test_a_name_keeps_its_spelling_beside_its_stem(store):
    [memory] = put(store, a_draft("Für den Backofen ist Herr Petersen zuständig."))
    for question in ("What does Petersen do?", "Petersen"):
        terms = content_words(question)
        assert queries.best_words(store.read(), terms, Filter(), every=False, limit=5)[0][0] == memory.id
    assert query_terms(Vocabulary(store.read(), None), "Was macht Frau Petersens Sohn?").corrected == ()


def test_a_word_in_two_forms_counts_once(store):
    """Exact spelling and stem are one word, so neither form is twice as good as the other."""
    exact, inflected = put(
        store,
        a_draft("Die Filiale ist heute nicht geöffnet und bleibt es auch."),
        a_draft("Die Filialen sind heute nicht geöffnet und bleiben es auch."),
    )
    put(store, *(a_draft(f"Das ist eine andere Notiz von heute, Nummer {number}") for number in range(9)))
    terms = [word for word in content_words("Wo ist die Filiale?") if word.startswith("fil")]
    found = dict(queries.best_words(store.read(), terms, Filter(), every=False, limit=5))
    assert found.keys() == {exact.id, inflected.id}
    assert found[exact.id] == pytest.approx(found[inflected.id], rel=0.1)
    assert queries.holders(store.read(), terms, None) == {"filiale": 2}


def test_each_statement_of_an_entity_has_its_own_language(store):
    [memory] = put(
        store, a_draft("mixed", texts=("The builds are green again.", "Die Straßen sind wieder gesperrt."))
    )
    for question in ("Which build is green?", "Welche Straße ist gesperrt?"):
        assert (
            queries.best_words(store.read(), content_words(question), Filter(), every=False, limit=5)[0][0]
            == memory.id
        )


def test_a_changed_text_is_found_by_its_new_stems_only(store):
    [memory] = put(store, a_draft("Die Katzen sind im Garten."))
    for _ in range(5):
        queries.best_words(store.read(), content_words("Wo ist die Katze?"), Filter(), every=False, limit=5)
    change(store, memory, texts=("Die Hunde sind im Garten.",), title="neu")
    assert (
        queries.best_words(store.read(), content_words("Welche Katze?"), Filter(), every=False, limit=5) == []
    )
    assert queries.best_words(store.read(), content_words("Welcher Hund?"), Filter(), every=False, limit=5)


def test_a_question_that_tells_no_language_is_looked_for_in_several(store):
    [memory] = put(store, a_draft("Die Filialen sind am Montag geschlossen."))
    assert len(candidates("Filiale")) > 1
    terms = query_terms(Vocabulary(store.read(), None), "Filiale").exact
    assert [
        number for number, _ in queries.best_words(store.read(), terms, Filter(), every=False, limit=5)
    ] == [memory.id]
