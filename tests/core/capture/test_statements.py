"""Lasting statements are found in what people say, and little else is."""

from __future__ import annotations

import pytest

from mnemic.core.capture.statements import MOST_STATEMENTS, lasting_statements

LASTING = {
    "rule": [
        "Always run make check before you commit.",
        "No, migrations are never edited; write a new one instead.",
        "from now on use pnpm, please",
        "We never edit old migrations.",
        "Again: migrations are never edited once merged!",
        "Wichtig: Migrationen werden nie geändert.",
        "Please don't ever touch the generated files",
        "Stop adding comments to every line",
        "I prefer small commits with a body.",
        "Never, ever push to main.",
        "Use spaces, never tabs.",
        "Tests always have to be run with make test.",
        "Commit messages are always in English.",
        "Under no circumstances touch the legacy folder.",
        "Do not touch the legacy folder, ever.",
        "Verwende immer UTC für Zeitstempel.",
        "Migrationen werden nie geändert.",
        "Ab jetzt bitte nur noch Deutsch in den Kommentaren.",
        "Utilise toujours les guillemets doubles.",
        "Il ne faut jamais modifier les migrations.",
        "À partir de maintenant, utilise pnpm.",
        "Usa siempre el formato ISO para fechas.",
        "Nunca edites las migraciones antiguas.",
        "A partir de ahora usa pnpm.",
        "マイグレーションは絶対に編集しないでください。",
        "必ずテストを実行してからコミットしてください。",
        "今後はpnpmを使ってください。",
        "永远不要修改迁移文件。",
        "提交前务必运行测试。",
        "从现在开始用pnpm。",
    ],
    "decision": [
        "we decided to use PostgreSQL for the event store",
        "Let's go with the second design.",
        "We've decided: no ORMs.",
        "It was decided that we drop Python 3.9.",
        "We chose Postgres over MySQL because of JSONB.",
        "Wir haben uns für PostgreSQL entschieden.",
        "Nous avons décidé d'utiliser Postgres.",
        "Hemos decidido usar PostgreSQL.",
        "PostgreSQLを使うことに決めました。",
        "我们决定使用PostgreSQL。",
    ],
    "fact": [
        "Remember that the staging database is shared.",
        "The build runs in Jenkins; please remember that.",
        "I want you to remember that the API returns cents.",
        "Keep this in mind: prices are in cents.",
        "Make a note that prices are in cents.",
        "Merke: Deploys sind montags.",
        "Die Builds laufen in Jenkins, merk dir das.",
        "Merk dir, dass die Demo am Freitag ist.",
        "Retiens que la démo est vendredi.",
        "Recuerda que la demo es el viernes.",
        "デモは金曜日だと覚えておいて。",
        "记住演示在周五。",
    ],
    "correction": [
        "No, use httpx instead of requests.",
        "No, the port is 8081.",
        "Actually, we deploy on Mondays.",
        "Actually the port is 8081, not 8080.",
        "I told you to use pnpm, not npm.",
        "Use tabs, not spaces in Makefiles.",
        "Prefer composition over inheritance, please.",
        "Nein, nimm stattdessen httpx für die Aufrufe.",
        "Non, utilise httpx à la place de requests.",
        "No, usa httpx en vez de requests.",
        "requestsではなくhttpxを使ってください。",
        "不要用requests，改用httpx。",
    ],
}
PASSING = [
    "Always here to cheer you on.",
    "Never saw this coming.",
    "And remember, I'm always here for you.",
    "Don't forget to take breaks when you need to.",
    "Animals bring us peace, plus we can always count on them.",
    "I'd prefer a park within a short drive.",
    "Why does the test always fail?",
    "No, it is still failing.",
    "No, the test is not run.",
    "Actually it is fine.",
    "Let's go with this!",
    "I always struggle with the regex here.",
    "No, I'm not interested in these.",
    "No, this is the only place.",
    "I will never understand this code.",
    "Keep pushing yourself and never give up.",
    "Do not run the tests yet",
    "The test always fails on CI.",
    "This function is never called.",
    "It never works on Windows.",
    "I never said that.",
    "Never mind, I found it.",
    "Do you remember the name of the table?",
    "I remember it was slow.",
    "We haven't decided on the database yet.",
    "Can you always show the diff?",
    "We have always had problems with this",
    "don't change the tests yet",
    "Der Test schlägt immer fehl.",
    "Le test échoue toujours.",
    "La prueba siempre falla.",
    "テストがいつも失敗します。",
    "このテストは必ず失敗しますか？",
    "测试总是失败。",
    "Fix the failing test in parser.py",
    "ok thanks",
]


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind in LASTING for text in LASTING[kind]])
def test_a_lasting_statement_is_found_with_its_kind(kind, text):
    assert [(one.text, one.kind) for one in lasting_statements(text)] == [(text, kind)]


@pytest.mark.parametrize("text", PASSING)
def test_questions_descriptions_and_tasks_are_not_lasting(text):
    assert lasting_statements(text) == []


def test_a_statement_is_found_among_other_sentences():
    message = "The build is red again. Always run make check before you commit. Can you fix it?"
    assert [one.text for one in lasting_statements(message)] == ["Always run make check before you commit."]


def test_code_quotes_and_marked_up_text_are_not_said():
    message = "Look:\n```\n# Always run this first\n```\n> Never do that again, please.\n<log>We decided to fail.</log>"
    assert lasting_statements(message) == []


def test_only_the_ends_of_a_pasted_document_are_said():
    document = (
        "Fix this. "
        + "Some words of a long report. " * 60
        + "Always rotate the keys. "
        + "More words. " * 200
    )
    assert lasting_statements(document) == []
    said = lasting_statements(document + "\nAlways quote the report by page.")
    assert [one.text for one in said] == ["Always quote the report by page."]


def test_nothing_is_taken_from_a_list_of_rules():
    rules = "\n".join(f"- Always do thing number {number}." for number in range(MOST_STATEMENTS + 1))
    assert lasting_statements(rules) == []


def test_a_statement_that_refers_back_is_kept_with_the_one_before_it():
    said = lasting_statements(
        "No! We never edit a migration once it is merged. Always write a new one. Always run lint."
    )
    assert [one.text for one in said] == [
        "We never edit a migration once it is merged. Always write a new one.",
        "Always run lint.",
    ]


def test_what_is_said_again_is_a_statement_too():
    said = lasting_statements(
        "I told you: migrations are never edited. And we use pnpm, not npm, in this repo. We use it, not always though."
    )
    assert [one.text for one in said] == [
        "I told you: migrations are never edited.",
        "And we use pnpm, not npm, in this repo.",
    ]
