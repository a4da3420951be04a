"""The command that a client starts us with."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from mnemic.client_config.clients import ConfigScope


def executable(scope: ConfigScope) -> str:
    """How a client starts us: by path, since applications know no PATH of ours; by name in a shared file."""
    if scope is ConfigScope.PROJECT:
        return "mnemic"
    beside = Path(sys.executable).with_name("mnemic.exe" if os.name == "nt" else "mnemic")
    started_as = Path(sys.argv[0])
    for candidate in (started_as if started_as.stem == "mnemic" else beside, beside):
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return str(candidate.absolute())
    return shutil.which("mnemic") or "mnemic"
