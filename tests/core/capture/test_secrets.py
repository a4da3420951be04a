"""Secrets and private passages are removed before anything is kept."""

from __future__ import annotations

import pytest

from mnemic.core.capture.secrets import REDACTED, cleaned

KEY = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"use ghp_{KEY} here", f"ghp_{KEY}"),
        (f"sk-ant-api03-{KEY}", KEY),
        ("AKIA" + "ABCDEFGHIJKLMNOP", "ABCDEFGHIJKLMNOP"),
        (f"xoxb-{KEY}", KEY),
        ("Authorization: Bearer abcdef1234567890", "abcdef1234567890"),
        ("postgres://me:hunter2@db/app", "hunter2"),
        ("DB_PASSWORD=hunter2", "hunter2"),
        ('"api_key": "q9w8e7r6"', "q9w8e7r6"),
        ("the password is hunter2", "hunter2"),
        ("Das Passwort ist hunter2!", "hunter2"),
        ("パスワードはhunter2です", "hunter2"),
        ("密码是hunter2", "hunter2"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "eyJhbGci"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "MIIE"),
    ],
)
def test_a_secret_is_redacted(text, secret):
    assert secret not in cleaned(text) and REDACTED in cleaned(text)


@pytest.mark.parametrize(
    "text", ["The token is missing.", "Rename the password field", "sk-learn-contrib-project"]
)
def test_talk_about_secrets_is_kept(text):
    assert cleaned(text) == text


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("a < private >b</ private > c", "a   c"),
        ("a <private reason='x'>b</PRIVATE>", "a"),
        ("a <private>b <private>c</private> d</private> e", "e"),
        ("salary 100</private> after", "after"),
        ("a <private>b</private> c", "a   c"),
        ("a <privateer>b", "a <privateer>b"),
    ],
)
def test_private_passages_are_removed_however_their_tags_are_written(said, kept):
    assert cleaned(said) == kept


def test_private_passages_are_removed_even_if_left_open():
    assert cleaned("Before <private>salary 100</private> after") == "Before   after"
    assert cleaned("Before <PRIVATE>salary 100") == "Before"


@pytest.mark.parametrize("piece", ["a", "0f", "x ", "<a", "a://b:", "password", "-----BEGIN "])
def test_pasted_text_of_any_length_is_cleaned(piece):
    text = piece * (200_000 // len(piece))
    assert cleaned(text).startswith(piece.strip()[:1])
