"""What the real model helps to find: meaning, names, identifiers, other scripts, typos; and nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import START, Clock, Uids, a_query, kept, open_store

from mnemic.core.context import Context
from mnemic.core.embedding_queue import embed_pending
from mnemic.core.memories import Note, remember
from mnemic.core.recall import recall
from mnemic.model.time import DAY
from mnemic.storage.queries import count

CORPUS = {
    "cat": "Anna adopted a cat named Biscuit from the shelter",
    "review": "The quarterly review moved to Thursday afternoon",
    "deploy": "We deploy the billing service to production every Friday",
    "config": "Call parse_config before the HTTPServer starts listening",
    "tea": "Zoë prefers tea over coffee in the morning",
    "sister": "My sister lives in Málaga and works as a nurse",
    "password": "The database password is rotated every ninety days",
    "lag": "PostgreSQL replication lag alerts go to the on-call engineer",
    "tokyo": "私は東京都に住んでいます",
    "budget": "明天下午三点开会讨论预算",
    "gate": "The garden gate squeaks and needs oil",
    "pods": "Kubernetes pods were evicted because of memory pressure",
    "pie": "Grandmother's recipe for apple pie uses cinnamon and lemon zest",
    "tyres": "The car needs new winter tyres before November",
    "allergy": "Peter is allergic to peanuts",
    "insurance": "The insurance contract ends in March",
    "changelog": "Release notes are written in the changelog file",
    "flight": "The flight to Lisbon leaves at six in the morning",
    "licence": "Error E1234 means that the licence has expired",
    "style": "The user wants answers in short sentences",
}


@pytest.fixture(scope="module")
def library(engine, model, tmp_path_factory):
    """The corpus with its vectors; a title names what is expected."""
    store = open_store(engine, tmp_path_factory.mktemp("library"))
    store.use_models(model.name)
    ctx = Context(store=store, embedder=model, now=Clock(), new_uid=Uids(), actor="tester")
    remember(ctx, [Note(text=text, source=name) for name, text in CORPUS.items()])
    embed_pending(ctx, 100)
    yield ctx
    store.close()


def found(ctx, question, min_relevance=None, **options):
    """The names of what is recalled, best first."""
    query = replace(a_query(question, **options), min_relevance=min_relevance)
    return [hit.memory.source for hit in recall(ctx, query).hits]


@pytest.mark.parametrize(
    "question, expected",
    [
        ("What pet does she have?", "cat"),
        ("who cannot eat nuts?", "allergy"),
        ("dessert from grandma", "pie"),
        ("trip to Portugal", "flight"),
        ("how often do credentials change", "password"),
        ("container orchestration ran out of RAM", "pods"),
        ("rubber for the vehicle when it snows", "tyres"),
        ("be brief when you reply", "style"),
    ],
)
def test_a_paraphrase_is_found_by_its_meaning(library, question, expected):
    assert found(library, question)[0] == expected


@pytest.mark.parametrize(
    "question, expected",
    [
        ("Biscuit", "cat"),
        ("zoe", "tea"),
        ("Zoë", "tea"),
        ("ZOE's drink", "tea"),
        ("Malaga", "sister"),
        ("malaga nurse", "sister"),
        ("Lisbon", "flight"),
        ("E1234", "licence"),
        ("peter", "allergy"),
    ],
)
def test_names_are_found_with_or_without_their_accents(library, question, expected):
    assert found(library, question)[0] == expected


@pytest.mark.parametrize(
    "question", ["parse_config", "config", "parse", "HTTPServer", "httpserver", "server", "http"]
)
def test_identifiers_are_found_whole_and_by_their_parts(library, question):
    assert found(library, question)[0] == "config"


@pytest.mark.parametrize(
    "question, expected", [("東京", "tokyo"), ("住ん", "tokyo"), ("预算", "budget"), ("开会", "budget")]
)
def test_a_word_of_two_characters_is_found_in_its_run(library, question, expected):
    assert found(library, question)[0] == expected


@pytest.mark.parametrize(
    "typo, expected",
    [
        ("kubernetis", "pods"),
        ("kubernettes", "pods"),
        ("kuberntes", "pods"),
        ("kubrenetes", "pods"),
        ("jubernetes", "pods"),
        ("cinamon", "pie"),
        ("lisbno", "flight"),
        ("insurence", "insurance"),
        ("quartely", "review"),
        ("replicaton", "lag"),
        ("databse", "password"),
        ("grandmohter", "pie"),
        ("Malagga", "sister"),
        ("peantus", "allergy"),
        ("parse_confg", "config"),
    ],
)
def test_a_typo_of_one_letter_is_found(library, typo, expected):
    assert found(library, typo)[0] == expected


@pytest.mark.parametrize(
    "question",
    [
        "penguin migration in Antarctica",
        "quantum chromodynamics lattice",
        "volcano eruption in Iceland",
        "medieval castle siege",
        "symphony orchestra concert tickets",
        "what is the capital of Mongolia?",
    ],
)
def test_nothing_is_found_where_nothing_is_known(library, question):
    assert found(library, question) == []


@pytest.mark.parametrize(
    "question",
    [
        '" OR *',
        "NEAR(",
        "a:b",
        "'; DROP TABLE memory; --",
        "body : cat",
        "{title}",
        "^",
        '"""',
        "\\",
        "%_%",
        "()",
        "*",
        "!?",
    ],
)
def test_signs_are_just_text(library, question):
    before = count(library.store.read())
    recall(library, a_query(question))
    assert found(library, f"{question} biscuit shelter", min_relevance=0.0)[0] == "cat"
    assert count(library.store.read()) == before


@pytest.mark.parametrize(
    "question", ["x" * 10_000, "cat " * 2_000, "猫" * 3_000, "\ud800".encode("utf-8", "replace").decode()]
)
def test_a_question_of_any_length_is_answered(library, question):
    assert isinstance(found(library, question), list)


def test_the_words_of_a_question_need_not_be_all_there(library):
    assert (
        found(library, "could you please tell me on which day of the week the billing things go live?")[0]
        == "deploy"
    )


def test_the_terms_of_every_score_add_up(library):
    asked = replace(a_query("when do we deploy the billing service in the morning?"), min_relevance=0.0)
    hits = recall(library, asked).hits
    assert len(hits) > 1
    for hit in hits:
        assert sum(hit.terms.values()) == pytest.approx(hit.score)
        assert all(value >= 0 for value in hit.terms.values())


def test_filters_work_inside_the_search(real):
    for number in range(60):
        kept(real, f"The heron stands in pond number {number}", namespace="crowd")
    few = [
        kept(real, "A heron was seen far away", namespace="quiet"),
        kept(real, "The grey bird stood in the water", kind="event", tags=("bird",)),
        kept(real, "Herons nest early", created_at=START - 30 * DAY),
    ]
    embed_pending(real, 100)

    def ids(**wanted):
        query = replace(a_query("heron in the pond", limit=3, **wanted), min_relevance=0.0)
        return [hit.memory.id for hit in recall(real, query).hits]

    assert ids(namespaces=("quiet",)) == [few[0].id]
    assert ids(kinds=("event",)) == ids(tags=("bird", "other")) == [few[1].id]
    assert ids(until=START - DAY) == [few[2].id]
    assert len(ids(namespaces=("crowd",))) == 3 and ids(namespaces=("nowhere",)) == []


def test_a_long_text_is_found_by_what_stands_deep_inside(real):
    filler = "The committee discussed the agenda and adjourned. " * 60
    memory = kept(real, f"{filler}The spare key is under the blue flowerpot. {filler}", name="Minutes")
    kept(real, "Flowers need water twice a week")
    embed_pending(real, 100)
    query = replace(a_query("where is the extra key hidden?"), min_relevance=0.0)
    assert recall(real, query).hits[0].memory.id == memory.id
