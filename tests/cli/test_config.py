"""`mnemic config`: what is in force, and changes of the file that keep everything else in it."""

from __future__ import annotations

import json
import sys

import pytest

FILE = """\
# mine
port = 9100  # behind the proxy

[ttl]
short_ttl_secs = 60  # for tests
"""


@pytest.fixture
def file(cli):
    """The configuration file of the home, as its owner wrote it."""
    path = cli.home / "settings" / "config.toml"
    path.parent.mkdir()
    path.write_text(FILE)
    return path


@pytest.fixture
def config(cli, file):
    return lambda *words, **more: cli(*words, MNEMIC_CONFIG=str(file), **more)


def test_a_setting_is_shown_with_its_source(config, file):
    assert config("config", "get", "port").out == "9100\n"
    held = json.loads(config("--json", "config", "get", "timezone").out)
    assert held == {"key": "timezone", "value": "local", "from": "default"}
    assert config("config").out == config("config", "list").out
    assert config("config", "path").out == f"{file}\n"


def test_a_setting_is_written_and_the_rest_of_the_file_stays(config, file):
    assert "timezone = Asia/Tokyo" in config("config", "set", "timezone", "Asia/Tokyo").out
    assert config("config", "set", "short_ttl_secs", "90").code == 0
    assert config("config", "set", "capture_exclude", "~/private", "secret-*").code == 0
    assert config("config", "set", "capture", "false").code == 0
    text = file.read_text()
    assert text.startswith("# mine\nport = 9100  # behind the proxy\n")
    assert "short_ttl_secs = 90  # for tests" in text.partition("[ttl]")[2]
    assert 'capture_exclude = ["~/private", "secret-*"]' in text.partition("[ttl]")[0]
    assert config("config", "get", "capture").out == "False\n"
    for key in ("timezone", "capture_exclude", "capture"):
        assert config("config", "unset", key).code == 0
    assert file.read_text().replace("90", "60").split() == FILE.split()


def test_a_file_is_made_for_its_owner_alone(cli):
    path = cli.home / "new" / "config.toml"
    done = cli("config", "set", "llm_key", "-", stdin="abc-123\n", MNEMIC_CONFIG=str(path))
    assert "(set)" in done.out and "abc-123" not in done.out
    assert path.read_text() == 'llm_key = "abc-123"\n'
    assert sys.platform == "win32" or path.stat().st_mode & 0o777 == 0o600
    assert cli("config", "get", "llm_key", MNEMIC_CONFIG=str(path)).out == "(set)\n"


def test_a_variable_that_counts_before_the_file_is_pointed_out(config):
    done = config("config", "set", "port", "9200", MNEMIC_PORT="7")
    assert "MNEMIC_PORT counts before the file" in done.out and "port = 7" in done.out


@pytest.mark.parametrize(
    "words, told",
    [
        (("set", "prot", "1"), "Did you mean port?"),
        (("set", "Embed-Model", "m"), "Did you mean embed_model?"),
        (("set", "port", "many"), "not a whole number"),
        (("set", "port", "1", "2"), "port: must be one value"),
        (("set", "capture", "maybe"), "must be one of true, false"),
        (("set", "tier", "clever"), "must be one of keyword, semantic"),
        (("get", "colour"), "no setting is called colour"),
    ],
)
def test_what_is_no_setting_or_no_value_is_refused_by_name(config, file, words, told):
    done = config("config", *words)
    assert done.code != 0 and told in done.err
    assert file.read_text() == FILE


def test_a_file_that_is_not_toml_is_left_alone(config, file):
    file.write_text("= broken")
    done = config("config", "set", "port", "1")
    assert done.code != 0 and "config.toml" in done.err
    assert file.read_text() == "= broken"


def test_the_editor_opens_the_file_and_its_work_is_checked(config, file, tmp_path):
    editor = tmp_path / "editor.py"
    editor.write_text("import sys, pathlib; pathlib.Path(sys.argv[1]).write_text('prot = 1\\n')")
    done = config("config", "edit", EDITOR=f"{sys.executable} {editor}", VISUAL="")
    assert "is valid" in done.out and "Did you mean port?" in done.err
    editor.write_text("import sys, pathlib; pathlib.Path(sys.argv[1]).write_text('port = ')")
    done = config("config", "edit", EDITOR=f"{sys.executable} {editor}", VISUAL="")
    assert done.code != 0 and "not valid TOML" in done.err


@pytest.mark.parametrize(
    "words", [("stats",), ("remember", "A fact"), ("recall", "fact"), ("config", "list"), ("doctor",)]
)
def test_every_command_warns_once_of_an_unknown_key(config, file, words):
    file.write_text("brief_token = 10\n")
    done = config(*words)
    told = "Warning: config.toml: no setting is called brief_token. Did you mean brief_tokens?\n"
    assert done.code == 0 and done.err == told


def test_a_hook_keeps_quiet_about_an_unknown_key(config, file):
    file.write_text("brief_token = 10\n")
    assert config("hook", "SessionStart", stdin="{}").err == ""
