"""The words index: scores, forms, spellings, and text that looks like syntax."""

from __future__ import annotations

import uuid
from dataclasses import replace

import pytest
from support import START, a_draft, change, faults, put, write

from mnemic.model.enums import State
from mnemic.model.filter import Filter
from mnemic.storage import queries
from mnemic.storage.index_tokens import stems
from mnemic.storage.queries import count, memory_numbered


def found(store, *terms, every=True):
    return [
        number for number, _ in queries.best_words(store.read(), list(terms), Filter(), every=every, limit=50)
    ]


def test_a_title_counts_more_than_a_summary_and_that_more_than_a_body(store):
    body, title, summary = put(
        store,
        a_draft("one", texts=("a heron among many other words here",)),
        a_draft("two", name="heron", texts=("something else among many other words",)),
        a_draft("three", summary="heron", texts=("something else among many other words",)),
    )
    put(store, *(a_draft(f"filler {number}") for number in range(20)))
    assert found(store, "heron") == [title.id, summary.id, body.id]
    scores = [
        score for _, score in queries.best_words(store.read(), ["heron"], Filter(), every=True, limit=5)
    ]
    assert scores == sorted(scores, reverse=True) and scores[-1] > 0


@pytest.mark.parametrize(
    "title, body", [("Cat", "Category of goods"), ("Plan 9", "Plan 90 has failed"), ("Sky", "Blue")]
)
def test_a_title_is_found_however_the_body_begins(store, title, body):
    [memory] = put(store, a_draft(body, name=title))
    for word in f"{title} {body}".split():
        assert found(store, word) == [memory.id]
    assert faults(store) == []


def test_a_title_made_from_the_body_does_not_count_twice(store):
    made, chosen = put(store, a_draft("heron in the pond", name="heron"), a_draft("pond", name="heron (2)"))
    put(store, *(a_draft(f"filler {number}") for number in range(20)))
    assert found(store, "heron") == [chosen.id, made.id]


@pytest.mark.parametrize("every", [True, False])
def test_every_namespace_is_searched_however_large(store, every):
    small = put(store, *(a_draft(f"blue sky {number}", namespace="small") for number in range(2)))
    large = put(store, *(a_draft(f"blue sea {number}", namespace="large") for number in range(60)))
    change(store, large[0], state=State.FORGOTTEN)
    for namespaces, living in {
        ("small",): small,
        ("large",): large[1:],
        ("small", "large"): [*small, *large[1:]],
        ("small", "none"): small,
        ("none",): [],
    }.items():
        wanted = Filter(namespaces=namespaces)
        ids = {memory.id for memory in living}
        seen = queries.best_words(store.read(), ["blue"], wanted, every=every, limit=100)
        assert {number for number, _ in seen} == ids
        among = replace(wanted, kinds=(small[0].kind,))
        assert queries.best_words(store.read(), ["blue"], among, every=every, limit=100) == seen
        assert {
            number
            for number, _ in queries.best_words(store.read(), ["blue", "sky"], wanted, every=True, limit=100)
        } == {memory.id for memory in living if memory in small}


def test_a_namespace_may_become_large(store):
    [first, *_] = put(
        store, a_draft("blue sky"), *(a_draft(f"{number}", namespace="x") for number in range(39))
    )
    wanted = Filter(namespaces=(first.namespace,))
    assert [
        number for number, _ in queries.best_words(store.read(), ["blue"], wanted, every=True, limit=9)
    ] == [first.id]
    more = put(store, *(a_draft(f"blue {number}") for number in range(5)))
    seen = queries.best_words(store.read(), ["blue"], wanted, every=True, limit=9)
    assert {number for number, _ in seen} == {first.id, *(memory.id for memory in more)}


def test_words_are_found_in_other_forms_and_without_their_accents(store):
    [memory] = put(store, a_draft("Zoë deployed the services in Málaga"))
    for word in ("deploy", "deploys", "deploying", "service", "zoe", "ZOE", "zoë", "malaga"):
        assert found(store, word) == [memory.id], word
    assert found(store, "ploy") == []


def test_a_term_of_several_words_is_a_phrase(store):
    together, apart = put(store, a_draft("a green pear tree"), a_draft("a pear that is green"))
    assert found(store, "green pear") == [together.id]
    assert sorted(found(store, "green", "pear")) == [together.id, apart.id]


@pytest.mark.parametrize("word", ["東京", "京都", "都に"])
def test_a_word_of_two_characters_is_found_in_a_run(store, word):
    [memory] = put(store, a_draft("私は東京都に住んでいます"))
    put(store, a_draft("大阪は好きです"))
    assert found(store, word) == ([memory.id] if word in memory.content else [])


@pytest.mark.parametrize(
    "nonsense",
    [
        '"',
        '" OR *',
        "NEAR(",
        "a:b",
        "title:sky",
        "'; DROP TABLE memory; --",
        "*",
        "sky*",
        "-sky",
        "^sky",
        "{title}: sky",
        "(",
        "AND",
        "sky AND",
        "\\",
        "\0",
        "%",
        "",
    ],
)
def test_no_character_in_a_term_is_syntax(store, nonsense):
    put(store, a_draft("the sea is green", tags=("x",)))
    reader = store.read()
    for every in (True, False):
        assert queries.best_words(reader, [nonsense], Filter(), every=every, limit=5) == []
    assert queries.best_words(reader, [nonsense, "sea"], Filter(), every=False, limit=5)
    assert queries.holders(reader, [nonsense], None)[nonsense] == 0
    assert isinstance(reader.spellings(nonsense, 3, None), list) and isinstance(stems(nonsense), list)
    assert faults(store) == []


@pytest.mark.parametrize(
    "text",
    [
        "Databases fail",
        "0㐀",
        "ﬁne",
        "²x",
        "𞤀𞤁",
        "…",
        "x" * 3000,
        "हिन्दी भाषा",
        "ß",
        "_private",
        "a_b-c",
        "İstanbul",
        "é",
    ],
)
def test_a_check_finds_every_memory_whatever_its_words(store, text):
    put(store, a_draft(text, name=text[:80]))
    assert faults(store) == []


def test_no_terms_find_nothing(store):
    put(store, a_draft("sky"))
    assert found(store) == [] and found(store, every=False) == []


def test_frequencies_count_living_memories(store):
    one, two, _ = put(
        store, a_draft("blue sky sky sky"), a_draft("blue sea"), a_draft("sails", namespace="work")
    )
    assert queries.holders(store.read(), ["blue", "Sky", "sailing", "sea", "absent"], None) == {
        "blue": 2,
        "Sky": 1,
        "sailing": 1,
        "sea": 1,
        "absent": 0,
    }
    assert queries.holders(store.read(), ["blue sea"], None) == {"blue sea": 1}, (
        "a phrase is as rare as its rarest word"
    )
    change(store, one, state=State.FORGOTTEN)
    change(store, two, texts=("black sea",), title="t", at=START + 1)
    assert queries.holders(store.read(), ["blue", "sky", "black"], None) == {"blue": 0, "sky": 0, "black": 1}


def test_frequencies_are_those_of_what_others_wrote_too(fresh):
    one, other = fresh(), fresh()
    put(one, a_draft("blue sky"))
    assert queries.holders(one.read(), ["blue", "sea"], None) == {"blue": 1, "sea": 0}
    put(other, a_draft("blue sea"))
    assert queries.holders(one.read(), ["blue", "sea"], None) == {"blue": 2, "sea": 1}


def test_frequencies_of_a_transaction_that_fails_are_forgotten(store):
    def work(tx):
        tx.insert(a_draft("sky"), uid=str(uuid.uuid4()))
        assert queries.holders(tx, ["sky"], None) == {"sky": 1}
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write(store, work)
    assert queries.holders(store.read(), ["sky"], None) == {"sky": 0}


def test_the_name_we_give_a_namespace_is_not_a_word(store):
    put(store, a_draft("one"), a_draft("two", namespace="work"))
    for number in range(4):
        assert queries.holders(store.read(), [f"ns{number}"], None) == {f"ns{number}": 0}
        assert found(store, f"ns{number}") == []
        assert found(store, f"\ue000{number}") == found(store, f"\ue000{number}", every=False) == []
    assert store.read().spellings("nss1", 5, None) == []


def test_stems_are_the_words_in_the_form_the_index_compares():
    assert stems("Running runs, café 東京都") == ["run", "run", "cafe", "東京", "京都"]
    assert stems("") == []


@pytest.mark.parametrize(
    "word, typos",
    [
        ("kubernetes", ["kubernetis", "kuberetes", "kuberrnetes", "kubenretes", "bubernetes", "KUBERNETIS"]),
        ("database", ["databse", "dattabase", "databaze", "databaes", "satabase"]),
        (
            "configuration",
            ["configuraton", "confiiguration", "configurazion", "configuratino", "donfiguration"],
        ),
        ("meeting", ["meetng", "meetting", "neeting"]),
        ("utf8", ["utf9", "uft8"]),
        ("Zürich", ["Zürick", "zurick", "Züich"]),
        ("Москва", ["Мосва", "Москка"]),
    ],
)
def test_spellings_are_the_words_one_letter_away(store, word, typos):
    [memory] = put(store, a_draft(f"something about {word} here"))
    put(store, *(a_draft(f"filler of other words {number}") for number in range(5)))
    for typo in typos:
        [spelled, *_] = store.read().spellings(typo, 3, None)
        assert found(store, spelled) == [memory.id], typo


def test_spellings_come_the_most_frequent_first_and_those_with_the_first_letter_before(store):
    put(
        store,
        a_draft("plane"),
        a_draft("plate one"),
        a_draft("plate two"),
        a_draft("place a"),
        a_draft("elephant"),
    )
    put(store, *(a_draft(f"slate {number}") for number in range(5)))
    spelled = [stems(word) for word in store.read().spellings("plaxe", 3, None)]
    assert spelled[0] == stems("plate") and sorted(spelled[1:]) == sorted([stems("plane"), stems("place")])
    assert [stems(word) for word in store.read().spellings("plxte", 5, None)] == [stems("plate")]
    assert [stems(word) for word in store.read().spellings("xlate", 5, None)] == [
        stems("slate"),
        stems("plate"),
    ]
    assert len(store.read().spellings("plaxe", 1, None)) == 1
    assert store.read().spellings("zzzzzz", 3, None) == store.read().spellings("cat", 3, None) == []


def test_the_size_is_never_a_twentieth_off(store):
    for number in range(60):
        put(store, a_draft(f"number {number}"))
        living = count(store.read())
        assert abs(store.read().statistics((), None).total - living) <= living / 20
    for number in range(1, 50):
        change(store, memory_numbered(store.read(), number), state=State.FORGOTTEN, at=START + number)
        living = count(store.read())
        assert abs(store.read().statistics((), None).total - living) <= max(1, living / 10)


def test_the_same_text_is_found_whatever_its_case_and_spacing(store):
    here, there = put(store, a_draft("The sky is blue"), a_draft("The sea", namespace="work"))
    reader = store.read()
    assert reader.same_texts(["  the SKY  is\nblue"], None) == {"  the SKY  is\nblue": here.id}
    assert reader.same_texts(["The sea"], ("global",)) == {}
    assert reader.same_texts(["The sea"], ("global", "work")) == {"The sea": there.id}
    assert reader.same_texts(["The sky"], None) == {}
    longer = change(store, here, texts=("The sky is blue", "and wide"), at=START + 1)
    assert store.read().same_texts(["The sky is blue"], None) == {}, "it is not the whole body"
    change(store, longer, texts=("The sky is blue",), at=START + 2)
    assert store.read().same_texts(["The sky is blue"], None) == {"The sky is blue": here.id}


def test_identifiers_are_found_whole_and_in_parts(store):
    parse, server = put(store, a_draft("call parse_config first"), a_draft("HTTPServer answers"))
    for word in ("parse_config", "parse", "config", "PARSE_CONFIG"):
        assert found(store, word) == [parse.id]
    for word in ("HTTPServer", "httpserver", "http", "server"):
        assert found(store, word) == [server.id]
