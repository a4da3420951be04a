"""Removal of secrets and private passages from text before it is kept."""

from __future__ import annotations

import re

REDACTED = "[redacted]"
_OPEN, _CLOSE = r"<\s*private\b[^<>]*>", r"<\s*/\s*private\s*>"
_PRIVATE = re.compile(rf"{_OPEN}.*?(?:{_CLOSE}|\Z)", re.DOTALL | re.IGNORECASE)
_PRIVATE_BEFORE = re.compile(rf"\A.*{_CLOSE}", re.DOTALL | re.IGNORECASE)
"""A passage whose beginning is missing."""
_KEY_BLOCK = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL
)
_TOKEN = re.compile(
    r"\b(?:"
    r"(?:AKIA|ASIA)[A-Z0-9]{16}"  # AWS
    r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}"
    r"|glpat-[\w-]{16,}"
    r"|(?:sk|pk|rk)[-_](?=[\w-]*\d)[\w-]{16,}"  # OpenAI, Anthropic, Stripe
    r"|xox[abeoprs]-[\w-]{10,}"  # Slack
    r"|AIza[\w-]{30,}"  # Google
    r"|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{30,}|hf_[A-Za-z0-9]{20,}"
    r"|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"  # JSON web token
    r"|SG\.[\w-]{16,}\.[\w-]{16,}"  # SendGrid
    r")"
)
_BEARER = re.compile(r"\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{12,}", re.IGNORECASE)
_CREDENTIALS = re.compile(r"(\b\w+://[^\s:/@]+:)[^\s/@]+(?=@)")
_NAME = (
    r"pass(?:word|wd|phrase|wort)?|pwd|kennwort|secret|token|api[ _-]?key|access[ _-]?key|private[ _-]?key"
    r"|client[ _-]?secret|mot de passe|contraseña|clave|senha|пароль|パスワード|暗証番号|密码|密碼|口令"
)
_ASSIGNED = re.compile(
    rf"((?:(?:{_NAME})\w{{0,60}}\b|パスワード|密码|密碼|口令)[\"']?\s*(?:[:=：]|は|是|为|\bis\b|\bist\b|\best\b|\bes\b)\s*[\"'「]?)"
    r"(?!\[redacted\])[^\s\"'」,;。]{4,}",
    re.IGNORECASE,
)
_PLAIN_WORD = re.compile(r"[a-zäöüßéèàáíóúñ]+[.!?]?", re.IGNORECASE)


def cleaned(text: str) -> str:
    """*text* without `<private>` passages, and with secrets replaced by a mark."""
    return redacted(without_private(text)).strip()


def without_private(text: str) -> str:
    """*text* without `<private>` passages, whichever of their two tags are there."""
    return _PRIVATE_BEFORE.sub(" ", _PRIVATE.sub(" ", text))


def redacted(text: str) -> str:
    """*text* with keys, tokens and passwords replaced by a mark."""
    text = _KEY_BLOCK.sub(REDACTED, text)
    text = _TOKEN.sub(REDACTED, text)
    text = _BEARER.sub(rf"\1 {REDACTED}", text)
    text = _CREDENTIALS.sub(rf"\1{REDACTED}", text)
    return _ASSIGNED.sub(_hidden, text)


def _hidden(found: re.Match[str]) -> str:
    """The assignment without its value; "the token is missing" assigns nothing."""
    value = found[0][len(found[1]) :]
    is_phrase = found[1].rstrip("\"' ").lower().endswith((" is", " ist", " est", " es"))
    if is_phrase and _PLAIN_WORD.fullmatch(value):
        return found[0]
    return found[1] + REDACTED + value[len(value.rstrip(".!?)")) :]
