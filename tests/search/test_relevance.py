"""Relevance: an answer that is known is found, a question about something else gets an empty answer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import Uids, a_query, kept

from mnemic.core.context import Context
from mnemic.core.explanation import explain
from mnemic.core.memories import Note, forget, remember
from mnemic.core.recall import recall
from mnemic.embedding.router import LanguageRouter
from mnemic.search.answer_type import AnswerType, asked_type, holds
from mnemic.search.common_words import information
from mnemic.search.relevance import expected

FACTS = [
    "Anna waters the tomatoes in the greenhouse every Tuesday.",
    "The rent for the allotment is 180 euros a year.",
    "PROJ-512 adds a lock to the shed.",
    "PROJ-511 replaces the gutter of the shed.",
    "The pump was bought from a shop in Aarhus in May 2024.",
    "Compost is turned over once a month.",
    "Bees are kept behind the hedge by our neighbour Viktor.",
    "The key to the gate hangs in the kitchen.",
]


@pytest.fixture
def garden(real):
    remember(real, [Note(text=text) for text in FACTS])
    return real


@pytest.fixture
def polyglot(store, clock):
    """A context with the models of all languages."""
    router = LanguageRouter()
    store.use_models(*(model.name for model in router.models))
    return Context(store=store, embedder=router, now=clock, new_uid=Uids(), actor="tester")


def found(ctx, question, **options):
    return [hit.memory.content for hit in recall(ctx, replace(a_query(question), **options)).hits]


@pytest.mark.parametrize(
    "question, fact",
    [
        ("Who waters the tomatoes?", 0),
        ("How much is the rent for the allotment?", 1),
        ("Where was the pump bought?", 4),
        ("What do we pay for the plot each year?", 1),
        ("gate key", 7),
    ],
)
def test_an_answerable_question_gets_a_hit(garden, question, fact):
    hits = recall(garden, a_query(question)).hits
    assert hits[0].memory.content == FACTS[fact]
    assert all(0 <= hit.relevance <= 1 for hit in hits)


@pytest.mark.parametrize(
    "question",
    [
        "Which Kafka version does the billing cluster run?",
        "What did Dr. Osterberg recommend for the knee surgery?",
        "password of the guest wifi",
        "xylophone",
    ],
)
def test_a_question_about_nothing_known_gets_an_empty_answer(garden, question):
    assert found(garden, question) == []
    assert found(garden, question, min_relevance=0.0), "all are there for who wants them"


def test_an_unknown_name_is_reported(garden):
    answer = recall(garden, a_query("Which Kafka version does Ludmila run?"))
    assert answer.hits == () and set(answer.unknown_names) == {"kafka", "ludmila"}
    assert recall(garden, a_query("Who waters the tomatoes?")).unknown_names == ()


def test_a_question_about_a_known_name_is_answered_beside_an_unknown_one(garden):
    assert found(garden, "Does Viktor know Kafka?")[0] == FACTS[6]
    assert found(garden, "Who is Kafka?") == []


def test_the_more_names_are_unknown_the_less_relevant_is_a_hit(garden):
    questions = (
        "Does Viktor keep bees?",
        "Does Viktor keep bees for Ludmila?",
        "Does Olga keep bees for Ludmila?",
    )
    hits = [recall(garden, replace(a_query(question), min_relevance=0.0)).hits[0] for question in questions]
    assert [hit.memory.content for hit in hits] == [FACTS[6]] * 3
    assert hits[0].relevance > hits[1].relevance > hits[2].relevance


def test_the_question_noun_may_be_missing_from_the_answer(garden):
    assert found(garden, "Which day are the tomatoes watered?")[0] == FACTS[0]
    assert found(garden, "In which town was the pump bought?")[0] == FACTS[4]
    kept(garden, "We deploy on Fridays.")
    assert found(garden, "Which day do we ship?")[0] == "We deploy on Fridays."
    assert found(garden, "When do we ship?")[0] == "We deploy on Fridays."
    assert found(garden, "Which month is the audit?") == []


@pytest.mark.parametrize(
    "text, question",
    [
        ("The API is deployed on Fridays, after the tests.", "which day do we ship?"),
        ("The landing page was moved to Astro in March.", "what framework is our marketing site built with?"),
        ("Anna is the contact at the hosting company.", "who do I call about the servers?"),
        (
            "Prefer small pull requests; reviewers ignore anything above 400 lines.",
            "how big should my change be?",
        ),
        ("The design tokens live in packages/theme.", "where do I change the colours?"),
    ],
)
def test_the_only_memory_answers_a_question_in_other_words(polyglot, text, question):
    kept(polyglot, text)
    assert found(polyglot, question) == [text]
    assert found(polyglot, "what is the recipe for the sourdough?") == []


def test_the_best_of_many_memories_must_be_nearer_than_the_best_of_few():
    sizes = (1, 6, 30, 75, 1_000, 100_000)
    least = [expected(size) for size in sizes]
    assert least == sorted(least)
    assert least[0] == pytest.approx(0.15)
    assert least[-1] == pytest.approx(0.475, abs=0.01)
    assert expected(30, "de") == expected(30_000, "de")


def test_an_identifier_finds_its_one_memory(garden):
    assert found(garden, "PROJ-512") == [FACTS[2]]
    assert found(garden, "What does PROJ-511 do?") == [FACTS[3]]
    assert found(replace(garden, embedder=None), "PROJ-512") == [FACTS[2]]


def test_without_a_model_words_decide(garden):
    words = replace(garden, embedder=None)
    assert found(words, "Who waters the tomatoes?") == [FACTS[0]]
    assert found(words, "Which Kafka version does the billing cluster run?") == []


def test_relevance_does_not_depend_on_what_else_is_found(garden):
    """Memories on other matters change it little: only how rare the words are."""
    [before] = [hit.relevance for hit in recall(garden, a_query("PROJ-512", limit=1)).hits]
    remember(garden, [Note(text=f"Bird number {n} was ringed at the lake.") for n in range(200)])
    [after] = [hit.relevance for hit in recall(garden, a_query("PROJ-512", limit=1)).hits]
    assert after == pytest.approx(before, abs=0.05)


def test_the_missing_attribute_lowers_relevance(garden):
    asked = [
        recall(garden, replace(a_query(question), min_relevance=0.0)).hits[0].relevance
        for question in ("Who waters the tomatoes?", "How many litres do the tomatoes need?")
    ]
    assert asked[0] > asked[1]


def test_a_long_question_is_answered(garden):
    question = (
        "Before I leave for the holidays I want to hand over everything to my cousin, who looks after the house, feeds "
        "the cat, empties the letter box and calls the plumber if the boiler fails again, and I would like to add a "
        "note on the garden. Could you tell me who waters the tomatoes in the greenhouse every Tuesday, please?"
    )
    assert found(garden, question)[0] == FACTS[0]


def test_a_german_question_is_answered_in_german(real):
    kept(real, "Der Schlüssel zum Gartentor hängt in der Küche.")
    kept(real, "Der Kompost wird einmal im Monat umgesetzt.")
    assert found(real, "Wo hängt der Schlüssel zum Gartentor?")[0].startswith("Der Schlüssel")


SMALL = {
    "en": [
        "The backend is deployed to Fly.io from the main branch.",
        "Maria is allergic to peanuts.",
        "Standup is at 9:30 every weekday.",
    ],
    "de": [
        "Das Backend läuft auf Fly.io.",
        "Maria verträgt keine Erdnüsse.",
        "Die Besprechung beginnt um 9:30 Uhr.",
    ],
}


@pytest.mark.parametrize(
    "language, question, fact",
    [
        ("en", "Where do we host the server?", 0),
        ("en", "what food must we avoid for Maria", 1),
        ("en", "what time do we start in the morning", 2),
        ("en", "Which hotel did we book?", None),
        ("en", "how do I bake bread", None),
        ("de", "Worauf hat Maria eine Allergie?", 1),
        ("de", "Wann ist das Meeting?", 2),
        ("de", "Welches Hotel haben wir gebucht?", None),
    ],
)
def test_three_memories_answer_what_they_know_and_nothing_else(polyglot, language, question, fact):
    remember(polyglot, [Note(text=text) for text in SMALL[language]])
    hits = found(polyglot, question)
    assert (hits[0] if hits else None) == (None if fact is None else SMALL[language][fact])


def test_a_latin_word_in_a_japanese_question_is_a_name(polyglot):
    remember(polyglot, [Note(text="経理の会議は毎週火曜日に開かれる。"), Note(text="倉庫の鍵は受付にある。")])
    answer = recall(polyglot, a_query("事務所のVPNパスワードは何ですか？"))
    assert answer.hits == () and answer.unknown_names == ("vpn",)


def test_the_first_word_of_a_spanish_question_is_no_name(real):
    remember(real, [Note(text="El almacén abre a las ocho.")])
    assert recall(real, a_query("¿Puede abrir alguien la biblioteca?")).unknown_names == ()


def test_common_words_count_less_than_rare_ones():
    assert information("need") < information("recommend") <= information("dentist") == 1.0


def test_explain_says_why_a_memory_is_a_hit_or_not(garden):
    query = a_query("Who waters the tomatoes?")
    told = explain(garden, query, 1)
    assert told.is_hit and told.reason == "found, place 1" and told.relevance >= told.needed
    assert told.signals["held"] == pytest.approx(1) and sum(told.terms.values()) == pytest.approx(told.score)
    behind = explain(garden, query, 3)
    assert not behind.is_hit and behind.relevance < behind.needed
    assert behind.reason.startswith("its relevance")
    forget(garden, [2])
    assert explain(garden, query, 2).reason == "it is forgotten"
    assert "filter" in explain(garden, a_query("tomatoes", namespaces=("elsewhere",)), 1).reason
    several = replace(query, limit=1, min_relevance=0.0)
    assert explain(garden, several, 6).reason.endswith("behind the limit of 1")


@pytest.mark.parametrize(
    "question, kind",
    [
        ("Who owns the service?", AnswerType.PERSON),
        ("On which port does it listen?", AnswerType.NUMBER),
        ("How long did it last?", AnswerType.NUMBER),
        ("When did it start?", AnswerType.TIME),
        ("In which city is the office?", AnswerType.PLACE),
        ("Wann beginnt das?", AnswerType.TIME),
        ("Combien coûte-t-il ?", AnswerType.NUMBER),
        ("谁负责这个？", AnswerType.PERSON),
        ("Why is it slow?", None),
    ],
)
def test_the_kind_of_answer_is_read_from_the_question(question, kind):
    assert asked_type(question) is kind


@pytest.mark.parametrize(
    "question, text, expected",
    [
        ("Who leads the support team?", "The support team sits in Lisbon.", False),
        ("Who leads the support team?", "Odd leads the support team.", True),
        ("How large is the index?", "The index is built with Tantivy.", False),
        ("How large is the index?", "The index has 640 GB.", True),
        ("How large is the index?", "The index is rebuilt once a month.", False),
        ("How often is it rebuilt?", "The index is rebuilt once a month.", True),
        ("How many orders are shipped?", "Stock levels are sent after 15 minutes.", False),
        ("How many orders are shipped?", "They ship 300 orders.", True),
        ("Wer hat das geprüft?", "Das wurde von Tariq geprüft.", True),
        ("Which town is it from?", "Le décor vient de Nantes.", True),
        ("How much does it cost?", "The contract runs until June 2027.", False),
        ("When does it end?", "The contract runs until June 2027.", True),
        ("When was the outage of 8 July?", "The outage of 8 July was short.", False),
        ("Where are backups stored?", "Backups are stored in Falkenstein.", True),
        ("Where are backups stored?", "Backups are encrypted.", False),
        ("Wann ist die Besprechung?", "Die Besprechung ist dienstags.", True),
        ("Wann ist die Besprechung?", "Die Besprechung ist öffentlich.", False),
        ("Quand a lieu la réunion ?", "La réunion a lieu le mercredi.", True),
        ("¿Cuándo se paga?", "Se paga los viernes.", True),
        ("¿Cuándo se paga?", "Se paga por banco.", False),
        ("Quando si paga?", "Si paga a maggio.", True),
        ("Quando é a reunião?", "A reunião é na quinta-feira.", True),
        ("Когда собрание?", "Собрание в пятницу.", True),
        ("Когда собрание?", "Собрание открыто для всех.", False),
        ("デプロイはいつですか", "本番環境へのデプロイは毎週火曜日に行います。", True),
        ("デプロイはいつですか", "デプロイは自動で行います。", False),
        ("会议什么时候开始", "会议星期三开始。", True),
        ("배포는 언제 하나요?", "배포는 목요일에 합니다.", True),
    ],
)
def test_whether_a_text_holds_that_kind_of_answer(question, text, expected):
    kind = asked_type(question)
    assert kind is not None and holds(text, kind, question) is expected
