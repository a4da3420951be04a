"""`mnemic man`: a page of all commands that roff renders without a warning."""

from __future__ import annotations

import shutil
import subprocess

import click
import pytest

from mnemic.cli.commands.man import escaped
from mnemic.cli.program import program


@pytest.fixture
def page(cli):
    """The page as it is printed."""
    done = cli("man")
    assert done.code == 0
    return done.out


def test_the_page_has_its_sections(page):
    assert page.startswith(".TH MNEMIC 1 ")
    for title in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS", "ENVIRONMENT", "EXIT STATUS"):
        assert f"\n.SH {title}\n" in page


def test_every_command_is_there_with_its_options(page):
    root = click.Context(program(), info_name="mnemic")
    for name, _ in (row for rows in root.command.rows().values() for row in rows):
        assert f"\n\\fBmnemic {escaped(name)}\\fR" in page, name
        command = root.command.get_command(root, name)
        for option in (param for param in command.params if isinstance(param, click.Option)):
            assert escaped(max(option.opts, key=len)) in page, (name, option.opts)
    assert (
        "\\fBmnemic ai\\-memory archive restore\\fR ID" not in page
        and "\\fBmnemic ai\\-memory archive restore\\fR" in page
    )


def test_manual_text_is_escaped_for_roff():
    assert escaped(".TH\n'br \\fB a-b") == "\\&.TH\n\\(aqbr \\efB a\\-b"


@pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff")
def test_it_renders_without_a_warning(page):
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww"], input=page.encode(), capture_output=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, b"")
    plain = click.unstyle(done.stdout.decode()).replace("\b", "")
    assert "git log -1 | mnemic ai-memory store" in plain


@pytest.mark.skipif(shutil.which("man") is None, reason="needs man")
def test_man_shows_it(page):
    done = subprocess.run(
        ["man", "--warnings", "-l", "-"], input=page.encode(), capture_output=True, timeout=60
    )
    assert b"MNEMIC(1)" in done.stdout and done.stderr == b""
