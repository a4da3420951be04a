"""One store used by several threads at once."""

from __future__ import annotations

import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from support import (
    START,
    WordEmbedder,
    a_draft,
    change,
    embed_all,
    embedding,
    faults,
    put,
    store_after,
    write,
)

from mnemic.model.filter import Filter
from mnemic.model.memory import MemoryPatch
from mnemic.storage import queries
from mnemic.storage.queries import count, each_memory, memory_numbered

EMBEDDER = WordEmbedder()


def test_threads_write_and_read_side_by_side(store):
    store.use_models(EMBEDDER.name)
    put(store, a_draft("common ground"))
    embed_all(store, EMBEDDER)

    def add(thread):
        for number in range(25):

            def work(tx):
                memory = tx.insert(a_draft(f"common words of {thread} {number}"), uid=str(uuid.uuid4()))
                tx.update(memory, MemoryPatch(tags=(f"thread{thread}",), texts=(memory.content, "and more")))

            write(store, work, actor=f"thread {thread}")
        return 25

    def read(_):
        seen = 0
        for _ in range(25):
            reader = store.read()
            living = count(reader)
            assert living >= seen, "what was seen stays"
            seen = living
            assert len(queries.best_words(reader, ["common"], Filter(), every=True, limit=1000)) >= living
            assert queries.nearest(reader, embedding(EMBEDDER, "common"), Filter(), limit=5)
            with store.snapshot() as still:
                assert count(still) == len(list(each_memory(still)))
        return 0

    def embed(_):
        return [embed_all(store, EMBEDDER) for _ in range(10)] and 0

    def look_back(_):
        return sum(count(store_after(store, 1).read()) - 1 for _ in range(25))

    with ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(job, n) for n in range(3) for job in (add, read)]
        jobs += [pool.submit(embed, 0), pool.submit(look_back, 0), pool.submit(look_back, 1)]
        assert sum(job.result() for job in jobs) == 75
    assert count(store.read()) == 76
    assert [row.sequence for row in store.read().journal()] == list(range(1, 152))
    batches = {}
    for row in store.read().journal():
        batches.setdefault(row.batch, set()).add(row.subject_id)
    assert all(len(subjects) == 1 for subjects in batches.values()), "no transaction mixed with another"
    embed_all(store, EMBEDDER)
    assert faults(store) == []


def test_a_thread_sees_what_another_has_just_committed(store):
    def written_by_another(number):
        return put(store, a_draft(f"memory {number}"))[0]

    with ThreadPoolExecutor(1) as pool:
        for number in range(20):
            memory = pool.submit(written_by_another, number).result()
            assert memory_numbered(store.read(), memory.id) == memory


def test_a_call_in_progress_when_the_store_is_closed_is_refused(store):
    put(store, *(a_draft(f"common words {number}") for number in range(200)))
    at_work = Barrier(9)

    def read():
        at_work.wait()
        while True:
            list(each_memory(store.read()))

    def write():
        at_work.wait()
        while True:
            put(store, a_draft(f"more {uuid.uuid4()}"))

    with ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(job) for job in (*[read] * 7, write)]
        at_work.wait()
        time.sleep(0.1)
        store.close()
        assert {str(job.exception()) for job in jobs} == {"The memory has been closed."}


def test_a_check_is_not_disturbed_by_writing(store):
    [memory] = put(store, a_draft("common ground"))

    def write():
        nonlocal memory
        for number in range(60):
            put(store, *(a_draft(f"common words {number} {half}") for half in "ab"))
            memory = change(
                store, memory, texts=(f"common words {number}",), title=f"title {number}", at=START + number
            )

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        while not writing.done():
            assert faults(store) == []
        writing.result()
    assert count(store.read()) == 121
