"""Settings: flags, then variables, then the file, then defaults."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path

import pytest

from mnemic.app import allowed_folders, dialect, open_app, open_embedder, open_store
from mnemic.embedding.local import LocalEmbedder
from mnemic.embedding.remote import OllamaEmbedder, OpenAIEmbedder
from mnemic.errors import Invalid, NotFound
from mnemic.settings import Settings, data_folder, load


@pytest.fixture
def file(tmp_path):
    """Where the config file is looked for."""
    return tmp_path / "config.toml"


@pytest.fixture
def loaded(file):
    def load_with(flags=None, **variables):
        return load(flags or {}, {"MNEMIC_CONFIG": str(file), **variables})

    return load_with


def test_without_anything_the_defaults_hold(loaded):
    settings = loaded()
    assert settings == Settings()
    assert settings.database == str(data_folder() / "mnemic.db")
    assert (settings.host, settings.port, settings.embedder) == ("127.0.0.1", 9077, "local")


def test_a_flag_beats_a_variable_beats_the_file(loaded, file):
    file.write_text('db = "file.db"\nport = 1\nnamespace = "file"\n')
    settings = loaded({"db": "flag.db"}, MNEMIC_DB="variable.db", MNEMIC_PORT="2")
    assert (settings.db, settings.port, settings.namespace) == ("flag.db", 2, "file")
    assert settings.database == "flag.db"


def test_a_flag_that_was_not_given_does_not_count(loaded):
    assert loaded({"db": None, "port": None}, MNEMIC_DB="variable.db").db == "variable.db"
    assert loaded({}, MNEMIC_DB="").db == ""


@pytest.mark.parametrize(
    "value, expected",
    [("1", True), ("true", True), ("YES", True), ("on", True), ("0", False), ("no", False), ("x", False)],
)
def test_a_switch_can_be_written_in_several_ways(loaded, value, expected):
    assert loaded(MNEMIC_FAST_WRITES=value).fast_writes is expected


def test_every_type_can_come_from_the_file(loaded, file):
    file.write_text('port = 8000\nfast_writes = true\nallow_path = ["/a", "/b"]\nembedder = "none"\n')
    settings = loaded()
    assert (settings.port, settings.fast_writes, settings.allow_path, settings.embedder) == (
        8000,
        True,
        ("/a", "/b"),
        "none",
    )


def test_folders_in_a_variable_are_separated_as_in_path(loaded):
    assert loaded(MNEMIC_ALLOW_PATH=os.pathsep.join(["/a", "/b c"])).allow_path == ("/a", "/b c")


@pytest.mark.parametrize(
    "content, variables, sentence",
    [
        ("port = ", {}, "config.toml: not valid TOML"),
        ("db = \udcff", {}, "config.toml"),
        ("db = 5", {}, "db: must be a text"),
        ("", {"MNEMIC_PORT": "many"}, "port: not a whole number: 'many'"),
        ("port = [1]", {}, "port: not a whole number"),
    ],
)
def test_what_cannot_be_read_is_named(loaded, file, content, variables, sentence):
    file.write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(Invalid, match=sentence):
        loaded(**variables)


def test_a_file_below_a_file_is_no_file(loaded, file):
    file.write_text("")
    assert load({}, {"MNEMIC_CONFIG": str(file / "config.toml")}) == Settings()


def test_every_setting_has_a_line_of_help():
    for item in fields(Settings):
        assert item.metadata["help"], item.name


# -- what the settings open


def test_the_store_is_opened_where_the_settings_say(tmp_path):
    with open_app(
        Settings(db=str(tmp_path / "here.db"), embedder="none", namespace="work"), actor="me"
    ) as app:
        assert (tmp_path / "here.db").exists()
        assert (app.ctx.namespace, app.ctx.actor, app.ctx.embedder) == ("work", "me", None)
        assert app.ctx.home() == "work" and app.ctx.scope() == ("work", "global")
    with pytest.raises(Invalid, match="db: only SQLite files"):
        open_store(Settings(db="postgresql://localhost/memories"))


@pytest.mark.parametrize(
    "settings, kind",
    [
        ({"embedder": "local"}, LocalEmbedder),
        ({"embedder": "ollama"}, OllamaEmbedder),
        ({"embedder": "openai", "embed_url": "http://127.0.0.1:1", "embed_model": "m"}, OpenAIEmbedder),
        ({"embedder": "none"}, type(None)),
    ],
)
def test_the_embedder_is_the_one_asked_for(settings, kind):
    assert type(open_embedder(Settings(**settings))) is kind


@pytest.mark.parametrize(
    "settings", [{"embedder": "magic"}, {"embedder": "openai"}, {"embedder": "openai", "embed_url": "x"}]
)
def test_an_embedder_that_cannot_be_is_refused_by_name(settings):
    with pytest.raises(Invalid, match="embed"):
        open_embedder(Settings(**settings))


def test_tools_may_read_below_the_data_folder_the_working_folder_and_what_is_allowed(tmp_path):
    folders = allowed_folders(Settings(allow_path=(str(tmp_path / "a" / ".." / "b"),)))
    assert (tmp_path / "b").resolve() in folders and Path.cwd().resolve() in folders
    assert data_folder().resolve() in folders and all(folder.is_absolute() for folder in folders)


def test_a_dialect_is_known_by_its_name():
    assert dialect("mnemic").name == "mnemic"
    with pytest.raises(NotFound, match=r"Unknown dialect: klingon\. There are: .*mnemic"):
        dialect("klingon")
