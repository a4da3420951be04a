"""Long texts are cut to the stretch that a question is about."""

from __future__ import annotations

from mnemic.hooks.excerpt import excerpt

TEXT = f"{'The kitchen is green. ' * 40}Our staging database is called heron. {'The garden is wide. ' * 40}"


def test_a_short_text_stays_whole():
    assert excerpt("The build runs on Tuesdays", "anything", 100) == "The build runs on Tuesdays"


def test_the_stretch_with_most_words_of_the_question_is_shown():
    shown = excerpt(TEXT, "What is the staging database called?", 200)
    assert "database is called heron" in shown and len(shown) <= 202
    assert shown.startswith("…") and shown.endswith("…")


def test_without_any_word_of_the_question_it_is_the_beginning():
    shown = excerpt(TEXT, "xylophone", 60)
    assert shown.startswith("The kitchen") and shown.endswith("…")


def test_a_text_without_spaces_is_cut_too():
    assert len(excerpt("x" * 500, "anything", 100)) == 101
