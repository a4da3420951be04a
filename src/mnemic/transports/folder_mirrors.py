"""The folders of the setting `mirror`, kept equal to their namespaces by a thread while a store is open."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mnemic.errors import Cancelled, Invalid, MnemicError
from mnemic.model.time import iso
from mnemic.settings import MirroredFolder, mirrored_folders
from mnemic.storage.cancellation import Cancellation
from mnemic.transfer.mirror_pace import LOOK_SECONDS, pause_after

if TYPE_CHECKING:
    from mnemic.core.context import Context

log = logging.getLogger(__name__)

ACTOR = "mnemic"
FIRST_LOOK_SECONDS = 0.5
"""A daemon answers first."""


def folder_mirrors(ctx: Context, database: str, environment: Mapping[str, str]) -> FolderMirrors:
    """The mirrors that are set for *database*, not yet started; none if the setting is wrong, which is logged."""
    try:
        folders = mirrored_folders(database, environment)
    except Invalid as error:
        log.warning("%s", error)
        folders = []
    return FolderMirrors(ctx, folders)


class FolderMirrors:
    """A thread that keeps folders in step until it is stopped."""

    def __init__(self, ctx: Context, folders: Sequence[MirroredFolder]):
        self._kept = [_KeptFolder(ctx, one) for one in folders]
        self._stopped = threading.Event()
        self._cancellation = Cancellation()
        self._thread = threading.Thread(target=self._run, name="mnemic-mirrors", daemon=True)

    def start(self) -> None:
        """Begin, if there is anything to keep."""
        if self._kept:
            self._thread.start()

    def stop(self) -> None:
        """End at the next question to the store; what was not finished is done by the next one."""
        self._stopped.set()
        self._cancellation.set()
        if self._thread.is_alive():
            self._thread.join()

    def status(self) -> list[dict[str, Any]]:
        """Each folder with its namespace, when it was last synced, and its error."""
        return [one.status() for one in self._kept]

    def _run(self) -> None:
        with suppress(Cancelled):
            self._cancellation.run(self._keep)

    def _keep(self) -> None:
        pause = FIRST_LOOK_SECONDS
        while not self._is_stopped_within(pause):
            began = time.monotonic()
            changed = [one.sync() for one in self._kept]
            pause = pause_after(time.monotonic() - began, has_changed=any(changed))

    def _is_stopped_within(self, seconds: float) -> bool:
        """Wait so long, or until memories have changed: whether the end has come."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if self._stopped.wait(min(LOOK_SECONDS, left)):
                return True
            if any(one.is_behind() for one in self._kept):
                return False
        return self._stopped.is_set()


class _KeptFolder:
    """A folder, its mirror, and how the last pass went."""

    def __init__(self, ctx: Context, told: MirroredFolder):
        from mnemic.transfer.folder_mirror import FolderMirror  # loaded only where folders are mirrored

        self._told = told
        self._ctx = replace(ctx, namespace=told.namespace, actor=ACTOR)
        self._mirror = FolderMirror(told.folder, told.namespace)
        self._problem = ""
        self._at: str | None = None

    def is_behind(self) -> bool:
        """Whether memories changed since the last pass. Where that cannot be told, the next pass says why."""
        with suppress(MnemicError):
            return self._problem == "" and self._mirror.is_behind(self._ctx)
        return False

    def sync(self) -> bool:
        """Bring both sides up to date: whether anything changed. What goes wrong is logged once and tried again."""
        has_changed = False
        try:
            has_changed = self._pass()
        except Cancelled:
            raise
        except OSError as error:
            self._note(error.strerror or str(error))
        except MnemicError as error:
            self._note(str(error))
        except Exception as error:
            log.debug("%s", self._told, exc_info=error)
            self._note(f"{type(error).__name__}: {error}")
        else:
            self._problem, self._at = "", iso(self._ctx.now())
        return has_changed

    def _pass(self) -> bool:
        if not self._mirror.is_begun:  # a disk that is not there, perhaps: nothing is written in its place
            command = f"mnemic mirror {self._told.folder} --namespace '{self._told.namespace or '*'}' --once"
            raise Invalid(f"not mirrored yet, or not mounted; `{command}` begins")
        report = self._mirror.sync(self._ctx)
        for error in report.errors:
            log.warning("%s: %s", self._told.folder, error)
        for clash in report.conflicts:
            log.warning(
                "%s: conflict in %s; the other version is beside its note", self._told.folder, clash.title
            )
        return report.changes > 0

    def _note(self, problem: str) -> None:
        if problem != self._problem:
            self._problem = problem
            log.warning("%s is not kept in step: %s", self._told.folder, problem)

    def status(self) -> dict[str, Any]:
        return {
            "folder": str(self._told.folder),
            "namespace": self._told.namespace or "*",
            "in_step_at": self._at,
            "problem": self._problem,
        }
