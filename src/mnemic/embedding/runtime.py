"""onnxruntime and tokenizers, imported here and nowhere else, after numpy (see `mnemic.numeric`)."""

import os

import mnemic.numeric  # noqa: F401

# onnxruntime reports the machine and each session to its maker unless this is set before the import.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

# isort: split
import onnxruntime  # type: ignore[import-untyped]
from tokenizers import Tokenizer

__all__ = ["Tokenizer", "onnxruntime"]
