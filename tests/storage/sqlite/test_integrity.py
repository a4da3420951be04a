"""`check` finds what does not fit together."""

from __future__ import annotations

import apsw
import pytest
from support import START, WordEmbedder, a_draft, change, embed_all, put

from mnemic.app import open_sqlite
from mnemic.errors import StoreUnusable
from mnemic.model.enums import State
from mnemic.model.graph import EdgeDraft

DAMAGES = {
    "DELETE FROM words WHERE rowid = 1": "missing from the words index",
    "INSERT INTO words (rowid, body) VALUES (3, 'gone')": "belong to no living memory",
    "INSERT INTO words (rowid, body) VALUES (77, 'nothing')": "belong to no living memory",
    "DELETE FROM words WHERE rowid = 2; INSERT INTO words (rowid, body) VALUES (2, 'x')": "its own words",
    "INSERT INTO meta VALUES ('gram', 99)": "missing from the index of substrings",
    "INSERT INTO gram (rowid, text) VALUES (77, 'nothing')": "belong to no memory",
    "INSERT INTO meta VALUES ('gram', 99); INSERT INTO gram (rowid, text) VALUES (2, 'x')": "own characters",
    "UPDATE memory SET title = 'Other' WHERE id = 1": "differs from what the journal says",
    "UPDATE memory SET priority = 1 WHERE id = 1": "differs from what the journal says",
    "UPDATE memory SET tags = '[\"x\"]' WHERE id = 1": "differs from what the journal says",
    "UPDATE statement SET until = 1 WHERE memory_id = 2": "differs from what the journal says",
    "DELETE FROM journal WHERE subject_id = 1 AND subject = 'memory'": "is not in the journal",
    "PRAGMA foreign_keys = OFF; DELETE FROM memory WHERE id = 3": "of the journal are missing",
    "DELETE FROM passage": "have lost their vectors",
    "UPDATE passage SET vector = x'00'": "wrong size for their model",
    "UPDATE edge SET weight = 0.5": "link 1 differs",
    "UPDATE edge SET state = 'forgotten'": "link 1 differs",
    "DELETE FROM edge": "links of the journal are missing",
}


@pytest.fixture
def path(tmp_path):
    store = open_sqlite(tmp_path / "checked.db")
    one, two, three = put(store, a_draft("one word"), a_draft("two words"), a_draft("three words"))
    embed_all(store, WordEmbedder())
    with store.write(operation="link", actor="x", at=START) as tx:
        tx.insert_edge(EdgeDraft(one.id, two.id, "before"))
    change(store, three, state=State.FORGOTTEN, at=START + 1)
    assert store.check() == []
    store.close()
    return tmp_path / "checked.db"


@pytest.mark.parametrize("damage, sentence", DAMAGES.items())
def test_planted_damage_is_found(path, damage, sentence):
    meddler = apsw.Connection(str(path))
    for _ in meddler.execute(damage):
        pass
    meddler.close()
    store = open_sqlite(path)
    found = store.check()
    store.close()
    assert any(sentence in line for line in found), found


def damage(path):
    """Overwrite the first bytes of a page of an index."""
    whole = path.read_bytes()
    meddler = apsw.Connection(str(path))
    [page] = meddler.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'memory_session'").fetchone()
    meddler.close()
    start = (page - 1) * 4096
    path.write_bytes(whole[:start] + b"\x0a" + b"\xff" * 40 + whole[start + 41 :])


def test_a_damaged_page_is_found(path):
    damage(path)
    store = open_sqlite(path)
    assert any("damaged" in line for line in store.check())
    store.close()


def test_a_damaged_file_is_not_copied_over_a_good_backup(path):
    good = path.with_name("backup.db")
    good.write_bytes(b"the last good backup")
    damage(path)
    store = open_sqlite(path)
    with pytest.raises(StoreUnusable, match=r"checked\.db is damaged, so it was not copied\. Restore"):
        store.backup(good)
    store.close()
    assert good.read_bytes() == b"the last good backup"
