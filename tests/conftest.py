"""What the tests share: real stores in temporary folders, a context held still, the real model."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import hypothesis
import pytest
from command_line import CommandLine
from postgres_server import give_back, shared_server
from support import Clock, Uids, WordEmbedder, open_store

from mnemic.app import engines
from mnemic.core.context import Context
from mnemic.embedding.local import LocalEmbedder
from mnemic.storage.base import Store

# How long an example takes says nothing here: the machine is shared.
hypothesis.settings.register_profile("mnemic", deadline=None, database=None)
hypothesis.settings.load_profile("mnemic")

Fresh = Callable[..., Store]


ENGINES = os.environ.get("ENGINE", "sqlite,postgres").split(",")
"""The engines the tests run on; ENGINE=sqlite for a quick turn."""


ON_ALL = ("storage", "core", "dialects", "search", "transfer")
"""The folders whose tests run on every engine; the others run on SQLite."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test once for each engine it is about."""
    if "engine" in metafunc.fixturenames:
        folders = Path(metafunc.module.__file__ or "").relative_to(Path(__file__).parent).parts
        engines_here = ENGINES if folders[0] in ON_ALL else ["sqlite"]
        own_folder = [name for name in ENGINES if name in folders[:-1]]
        engines_here = own_folder or engines_here
        metafunc.parametrize("engine", engines_here, indirect=True, scope="session")


@pytest.fixture(scope="session")
def engine(request: pytest.FixtureRequest) -> str:
    """The engine a store is kept by. A second one is a second parameter here and a case in `open_store`."""
    if request.param == "postgres":
        shared_server()
    return str(request.param)


@pytest.fixture(autouse=True)
def _other_engines_are_passed_over(request: pytest.FixtureRequest) -> None:
    """Skip a test marked `only_on("sqlite")`, about the ways of one engine, on the others."""
    marked = request.node.get_closest_marker("only_on")
    if marked and "engine" in request.fixturenames and request.getfixturevalue("engine") not in marked.args:
        pytest.skip(f"only on {', '.join(marked.args)}")


@pytest.fixture
def fresh(engine: str, tmp_path: Path) -> Iterator[Fresh]:
    """Opens the store of a name, made if it is not there; the same name twice is one store opened twice."""
    opened: list[Store] = []

    def opening(name: str = "mnemic") -> Store:
        opened.append(open_store(engine, tmp_path, name))
        return opened[-1]

    yield opening
    for store in opened:
        store.close()
    if engine == "postgres":
        give_back(tmp_path)


@pytest.fixture
def store(fresh: Fresh) -> Store:
    """An empty store."""
    return fresh()


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files and folders that the disk was waited for, in order; SQLite waits for its own by itself."""
    waited: list[Path] = []
    wait = os.fsync

    def told(handle: int) -> None:
        waited.append(Path(f"/proc/self/fd/{handle}").readlink())
        wait(handle)

    monkeypatch.setattr(os, "fsync", told)
    return waited


@pytest.fixture
def clock() -> Clock:
    """The clock of `ctx`."""
    return Clock()


@pytest.fixture
def ctx(store: Store, clock: Clock) -> Context:
    """A context over `store` in which time, chance and the model are held still."""
    embedder = WordEmbedder()
    store.use_models(embedder.name)
    return Context(
        store=store, engines=engines(), embedder=embedder, now=clock, new_uid=Uids(), actor="tester"
    )


@pytest.fixture(scope="session")
def model() -> LocalEmbedder:
    """The model that ships with the package, loaded once."""
    return LocalEmbedder()


@pytest.fixture
def real(store: Store, clock: Clock, model: LocalEmbedder) -> Context:
    """A context over `store` with the real model."""
    store.use_models(model.name)
    return Context(store=store, engines=engines(), embedder=model, now=clock, new_uid=Uids(), actor="tester")


@pytest.fixture
def twin(fresh: Callable[[str], Store], ctx: Context) -> Context:
    """The same context as `ctx` over a store of its own."""
    store = fresh("twin")
    assert ctx.embedder
    store.use_models(ctx.embedder.name)
    return replace(ctx, store=store, new_uid=Uids())


@pytest.fixture
def ai(cli: CommandLine) -> CommandLine:
    """`mnemic ai-memory` in the home of `cli`."""
    return cli.below("ai-memory")


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """`mnemic` in a home of its own."""
    home = tmp_path / "home"
    home.mkdir()
    return CommandLine(home, monkeypatch, capsys)
