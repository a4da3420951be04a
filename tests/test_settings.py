"""Settings: flags, then variables, then the file, then defaults."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path

import pytest

from mnemic.app import allowed_folders, dialect, lives, open_app, open_embedder, open_language, open_store
from mnemic.embedding.remote import OllamaEmbedder, OpenAIEmbedder
from mnemic.embedding.router import LanguageRouter
from mnemic.errors import Invalid, NotFound
from mnemic.model.retention import Lives
from mnemic.model.time import DAY, SECOND, YEAR
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


def test_a_file_may_begin_with_a_byte_order_mark(loaded, file):
    file.write_bytes(b"\xef\xbb\xbfport = 8000\r\n")
    assert loaded().port == 8000


def test_folders_in_a_variable_are_separated_as_in_path(loaded):
    assert loaded(MNEMIC_ALLOW_PATH=os.pathsep.join(["/a", "/b c"])).allow_path == ("/a", "/b c")


@pytest.mark.parametrize(
    "content, variables, sentence",
    [
        ("port = ", {}, "config.toml: not valid TOML"),
        ("db = \udcff", {}, "config.toml"),
        ("db = 5", {}, "db: must be a text"),
        ("", {"MNEMIC_DB": "\udcff"}, "db: is not UTF-8 text"),
        ("", {"MNEMIC_NAMESPACE": "a\udcff"}, "namespace: is not UTF-8 text"),
        ("", {"MNEMIC_PORT": "many"}, "port: not a whole number: 'many'"),
        ("port = [1]", {}, "port: not a whole number"),
    ],
)
def test_an_unreadable_setting_is_named(loaded, file, content, variables, sentence):
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
    with pytest.raises(Invalid, match="db: must be a file or a postgresql:// address"):
        open_store(Settings(db="mysql://localhost/memories"))


@pytest.mark.parametrize(
    "settings, kind",
    [
        ({"embedder": "local"}, LanguageRouter),
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
    folders = allowed_folders(Settings(allow_path=(str(tmp_path / "a" / ".." / "b"),)), Path.cwd())
    assert (tmp_path / "b").resolve() in folders and Path.cwd().resolve() in folders
    assert data_folder().resolve() in folders and all(folder.is_absolute() for folder in folders)


def test_a_dialect_is_known_by_its_name():
    assert dialect("mnemic").name == "mnemic"
    with pytest.raises(NotFound, match=r"Unknown dialect: klingon\. There are: .*mnemic"):
        dialect("klingon")


# -- ai-memory's configuration beside ours


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Both files where they are looked for, to be written, and the settings that they give."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    def load_with(*, ours="", theirs="", **variables):
        for folder, text in (("mnemic", ours), ("ai-memory", theirs)):
            (tmp_path / folder).mkdir(exist_ok=True)
            (tmp_path / folder / "config.toml").write_text(text)
        return load({}, {"XDG_CONFIG_HOME": str(tmp_path), **variables})

    return load_with


def test_both_files_are_read_and_ours_counts_first(files):
    settings = files(
        ours='tier = "keyword"\n', theirs='tier = "smart"\nllm_model = "gemma4:e4b"\nunknown = 1\n'
    )
    assert (settings.tier, settings.llm_model) == ("keyword", "gemma4:e4b")


def test_their_file_is_left_alone_on_demand(files):
    assert files(theirs='tier = "smart"', AI_MEMORY_NO_CONFIG="1").tier == "semantic"
    assert files(ours='tier = "smart"', AI_MEMORY_NO_CONFIG="1").tier == "smart"


def test_their_database_is_not_opened_as_ours(files):
    assert files(theirs='db = "/home/me/ai-memory.db"').db == ""
    assert files(ours='db = "/home/me/mine.db"').db == "/home/me/mine.db"


def test_ttls_are_a_settings_table(files):
    settings = files(
        theirs="archive_on_gc = false\narchive_max_days = 90\n[ttl]\nshort_ttl_secs = 60\nmid_ttl_secs = 0\n"
        "long_ttl_secs = 86400\nshort_extend_secs = 5\nmid_extend_secs = -1\n"
    )
    assert lives(settings) == Lives(
        short=60 * SECOND,
        mid=None,
        long=DAY,
        short_extension=5 * SECOND,
        mid_extension=0,
        archives=False,
        archive_days=90,
    )


def test_a_ttl_is_ten_years_at_most(files):
    assert lives(files(theirs="[ttl]\nmid_ttl_secs = 99999999999\n")).mid == 10 * YEAR


def test_an_invalid_ttl_table_sets_nothing(files):
    assert files(theirs="ttl = 5\n") == Settings()


def test_their_variables_count_behind_ours(loaded):
    assert loaded(AI_MEMORY_DB="theirs.db").db == "theirs.db"
    assert loaded(AI_MEMORY_DB="theirs.db", MNEMIC_DB="ours.db").db == "ours.db"
    assert loaded(OLLAMA_HOST="box:1").ollama_url == "box:1"
    assert loaded(OLLAMA_HOST="box:1", MNEMIC_OLLAMA_URL="http://other").ollama_url == "http://other"


def test_their_variables_beat_the_files(files):
    assert files(theirs='ollama_url = "http://file"', OLLAMA_HOST="box").ollama_url == "box"


def test_blanks_around_a_token_are_no_part_of_it(loaded):
    assert loaded(MNEMIC_TOKEN=" secret\n").token == loaded({"token": "secret\r\n"}).token == "secret"
    assert loaded(MNEMIC_TOKEN="").token == ""
    with pytest.raises(Invalid, match="token: is blank"):
        loaded(MNEMIC_TOKEN=" ")


def test_their_key_is_our_token(files):
    assert files(theirs='api_key = "secret"').token == "secret"
    assert files(ours='token = "ours"', theirs='api_key = "secret"').token == "ours"


@pytest.mark.parametrize(
    "theirs, kind, url",
    [
        ('embedding_model = "mini_lm_l6_v2"', LanguageRouter, None),
        ('embedding_model = "nomic_embed_v15"', OllamaEmbedder, "http://localhost:11434/api/embed"),
        (
            'embedding_model = "nomic_embed_v15"\nollama_url = "box"',
            OllamaEmbedder,
            "http://box:11434/api/embed",
        ),
        (
            'embedding_model = "nomic_embed_v15"\nollama_url = "http://box"\nembed_url = "http://other:1/"',
            OllamaEmbedder,
            "http://other:1/api/embed",
        ),
    ],
)
def test_their_embedding_model_chooses_our_embedder(files, theirs, kind, url):
    embedder = open_embedder(files(theirs=theirs))
    assert type(embedder) is kind
    if url:
        assert (embedder._url, embedder.name) == (url, "ollama:nomic-embed-text")


def test_an_embedding_model_that_neither_knows_is_refused(files):
    with pytest.raises(Invalid, match="embedder: must be local, openai, ollama or none, not 'bge'"):
        open_embedder(files(theirs='embedding_model = "bge"'))


@pytest.mark.parametrize(
    "settings, model",
    [
        ({"tier": "semantic"}, None),
        ({"tier": "smart"}, "gemma4:e2b"),
        ({"tier": "autonomous"}, "gemma4:e4b"),
        ({"tier": "autonomous", "llm_model": "llama3.2"}, "llama3.2"),
    ],
)
def test_the_language_model_is_that_of_the_tier(settings, model):
    language = open_language(Settings(**settings))
    assert (language.name if language else None) == model


def test_a_tier_and_an_address_that_cannot_be_are_refused_by_name():
    with pytest.raises(
        Invalid, match="tier: must be one of keyword, semantic, smart, autonomous, not 'magic'"
    ):
        open_embedder(Settings(tier="magic"))
    with pytest.raises(Invalid, match="ollama_url: not an address: 'ftp://box'"):
        open_language(Settings(tier="smart", ollama_url="ftp://box"))


def test_the_keyword_tier_has_no_embedder():
    assert open_embedder(Settings(tier="keyword")) is None


def test_the_password_of_a_server_is_not_shown():
    settings = Settings(db="postgresql://anna:se:cret@host/memories?password=also")
    assert settings.shown_database == "postgresql://anna@host/memories?password=…"
    assert Settings(db="/home/a:b@c/memories.db").shown_database == "/home/a:b@c/memories.db"
