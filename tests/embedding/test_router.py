"""English by one model, other languages by another: each text has one, and a question is asked of both."""

from __future__ import annotations

import pytest
from support import START, Uids, WordEmbedder, faults

from mnemic.core.context import Context
from mnemic.core.embedding_queue import embed_pending
from mnemic.core.memories import Note, remember
from mnemic.core.recall import recall, vector_of
from mnemic.embedding.base import embedding
from mnemic.embedding.local import ENGLISH, MULTILINGUAL
from mnemic.embedding.router import KNOWN, LanguageRouter, scale_between
from mnemic.model.filter import Filter, Query
from mnemic.model.vectors import AS_IT_IS
from mnemic.storage.queries import each_memory

GERMAN = "Die Bäckerei am Marktplatz öffnet samstags erst um neun Uhr."
NOTES = [
    "The staging server runs on port 8080 behind a proxy.",
    "Anna adopted a cat called Biscuit from the shelter.",
    "The quarterly review moved from Tuesday to Thursday.",
    GERMAN,
    "La clé du garage est chez le gardien de l'immeuble.",
    "新的打印机放在二楼的厨房旁边。",
]


@pytest.fixture(scope="module")
def router():
    return LanguageRouter()


@pytest.fixture
def polyglot(store, clock, router):
    """A context with both models over a store in several languages."""
    store.use_models(*(model.name for model in router.models))
    ctx = Context(store=store, embedder=router, now=clock, new_uid=Uids(), actor="tester")
    remember(ctx, [Note(text=text) for text in NOTES], force=True)
    assert embed_pending(ctx, 100) == len(NOTES)
    return ctx


def ask(ctx, text):
    query = Query(text=text, filter=Filter(), limit=3, min_relevance=0.0, now=START)
    return [hit.memory.content for hit in recall(ctx, query).hits]


@pytest.mark.parametrize(
    "text, files",
    [
        ("The review is on Thursday.", ENGLISH),
        ("PROJ-512", ENGLISH),
        ("def add(a, b): return a + b", ENGLISH),
        (GERMAN, MULTILINGUAL),
        ("A impressora nova fica no segundo andar da escola.", MULTILINGUAL),
        ("新的打印机放在二楼。", MULTILINGUAL),
        ("Новый принтер стоит на втором этаже.", MULTILINGUAL),
        ("नया प्रिंटर दूसरी मंज़िल पर रखा है।", ENGLISH),
    ],
)
def test_a_text_goes_to_the_network_for_its_language(router, text, files):
    assert router.model_for(text).network == files.name


def test_the_multilingual_model_is_not_loaded_for_english(store, clock):
    class Refusing(WordEmbedder):
        def embed(self, texts):
            raise AssertionError("loaded")

    english, other = WordEmbedder("english"), Refusing("other", 32)
    store.use_models("english", "other")
    ctx = Context(store=store, embedder=LanguageRouter(english, other), now=clock, new_uid=Uids())
    remember(ctx, [Note(text="The review is on Thursday.")], force=True)
    assert embed_pending(ctx, 10) == 1
    assert ask(ctx, "when is the review?")
    [reading] = vector_of(ctx, "Wann ist die Besprechung?", Filter()).readings
    assert reading.model == "english"


def test_each_vector_keeps_the_name_of_its_model(polyglot):
    reader = polyglot.store.read()
    memories = list(each_memory(reader))
    stored = reader.vectors([memory.id for memory in memories])
    made_by = {memory.content: stored[memory.statements[0].id].model for memory in memories}
    assert {made_by[text] for text in NOTES[:3]} == {ENGLISH.name}
    assert [made_by[text] for text in NOTES[3:]] == [
        f"{MULTILINGUAL.name}:{each}" for each in ("de", "fr", "zh")
    ]
    assert faults(polyglot.store) == []


@pytest.mark.parametrize(
    "question, wanted",
    [
        ("When does the bakery open on Saturdays?", 3),
        ("Where is the key of the garage?", 4),
        ("Where is the printer?", 5),
        ("Wann macht die Bäckerei auf?", 3),
        ("Où se trouve la clé du garage ?", 4),
        ("What is the name of the pet?", 1),
        ("Which port does staging listen on?", 0),
    ],
)
def test_a_question_finds_notes_in_its_own_and_in_other_languages(polyglot, question, wanted):
    assert ask(polyglot, question)[0] == NOTES[wanted]


def test_a_question_is_read_by_the_models_that_have_vectors_in_its_scope(polyglot):
    remember(polyglot, [Note(text="The lamp is green.", namespace="lamps")], force=True)
    embed_pending(polyglot, 10)
    everywhere = vector_of(polyglot, "Where is the lamp?", Filter())
    here = vector_of(polyglot, "Where is the lamp?", Filter(namespaces=("lamps",)))
    assert {reading.model.split(":")[0] for reading in everywhere.readings} == {
        ENGLISH.name,
        MULTILINGUAL.name,
    }
    assert len(everywhere.readings) == 4, "English, German, French, Chinese"
    assert [reading.model for reading in here.readings] == [ENGLISH.name]


def test_trust_follows_the_languages_of_question_and_text():
    assert scale_between("en", "en") == AS_IT_IS
    assert scale_between("de", "de").trust == scale_between("en", "de").trust == 1
    assert scale_between("fr", "de").trust < 1, "a German note is meant less often"
    assert scale_between("hi", "de").trust < scale_between("fr", "de").trust
    assert scale_between("hi", "hi").trust < 1 and scale_between("de", "en").trust < 1
    assert "hi" not in KNOWN


def test_of_equal_answers_the_one_in_the_language_of_the_question_comes_first(store, clock, router):
    store.use_models(*(model.name for model in router.models))
    ctx = Context(store=store, embedder=router, now=clock, new_uid=Uids(), actor="tester")
    german, french = "Der Drucker steht im zweiten Stock.", "L'imprimante se trouve au deuxième étage."
    remember(ctx, [Note(text=text) for text in (german, french)], force=True)
    embed_pending(ctx, 10)
    assert ask(ctx, "Wo finde ich das Gerät zum Ausdrucken?")[0] == german
    assert ask(ctx, "Où trouver la machine pour imprimer ?")[0] == french


def test_unrelated_texts_of_an_unknown_language_are_not_near(router):
    """To the English model all Hindi texts are much alike; on the shared scale they are not."""
    question, answer, other = (
        "प्रिंटर कहाँ रखा है?",
        "प्रिंटर दूसरी मंज़िल पर रखा है।",
        "हमारी बैठक मंगलवार को होगी।",
    )
    [reading] = embedding(router, question, [router.model_for(answer).name]).readings
    near, far = router.model_for(answer).embed([answer, other]) @ reading.vector
    assert far > 0.5
    assert reading.scale.similarity(float(far)) < 0.25 < reading.scale.similarity(float(near))


ENGLISH_NOTES = [
    "We announce releases in the channel #shipping, one day in advance.",
    "The backup server stands in the basement of the Hamburg office.",
    "Anna is allergic to peanuts and shellfish.",
    "Invoices are paid within thirty days of receipt.",
    "Our summer party takes place on the roof terrace in July.",
]


@pytest.fixture
def english_notes(store, clock, router):
    """A context with both models over a store of English notes."""
    store.use_models(*(model.name for model in router.models))
    ctx = Context(store=store, embedder=router, now=clock, new_uid=Uids(), actor="tester")
    remember(ctx, [Note(text=text) for text in ENGLISH_NOTES], force=True)
    embed_pending(ctx, 10)
    return ctx


@pytest.mark.parametrize(
    "question, wanted",
    [
        ("Wo kündigen wir Releases an?", 0),
        ("¿Dónde anunciamos las versiones nuevas?", 0),
        ("Où se trouve le serveur de sauvegarde ?", 1),
        ("安娜不能吃什么？", 2),
        ("請求書は何日以内に支払いますか？", 3),
        ("Wann feiern wir im Sommer?", 4),
    ],
)
def test_a_question_in_another_language_finds_an_english_note(english_notes, question, wanted):
    hits = recall(english_notes, Query(text=question, filter=Filter(), limit=3, now=START)).hits
    assert hits[0].memory.content == ENGLISH_NOTES[wanted]


@pytest.mark.parametrize(
    "question",
    ["Wie schneidet man Rosen?", "Quelle est la capitale de la Mongolie ?", "教会の塔の高さは？"],
)
def test_a_question_in_another_language_about_nothing_known_finds_nothing(english_notes, question):
    assert recall(english_notes, Query(text=question, filter=Filter(), limit=3, now=START)).hits == ()


def test_a_projected_question_is_nearest_to_its_translation(router):
    english = next(model for model in router.models if model.name == ENGLISH.name)
    reader = english.reader_of(GERMAN)
    [question] = reader.embed([GERMAN])
    notes = english.embed(["The bakery at the market square opens at nine on Saturdays.", *ENGLISH_NOTES])
    assert reader.network != english.network and len(question) == english.dimension
    assert (notes @ question).argmax() == 0
    assert english.reader_of("When does the bakery open?") is english
