"""The models that ship with the package, run in this process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from mnemic.embedding.base import SingleModel
from mnemic.embedding.text_windows import Stretch, WordOffsets, windows
from mnemic.errors import Unavailable

if TYPE_CHECKING:
    from mnemic.model.vectors import Vectors

# numpy, onnxruntime and tokenizers cost 200 ms to import, so they wait for the first text.

FILES = Path(__file__).parent / "files"
TOKENIZER, MODEL, TABLE = "tokenizer.json", "model.onnx", "table.bin"
ENDS = 2
"""The tokens that the tokenizer puts before and after a text."""
LONGEST_WORD = 8
"""A longer run of tokens without a blank may be cut: a Chinese sentence, an encoded key."""
SLACK = 8
"""Extra tokens allowed for a window that was cut in the middle of a word."""
BATCH_TEXTS = 32
BATCH_TOKENS = 512  # small enough for the cache: 2048 took 25 % longer and 70 MB more


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model in a folder of the package: its name and its size."""

    name: str
    folder: Path
    dimension: int
    tokens: int
    """Texts per batch."""

    @property
    def inner_tokens(self) -> int:
        """Maximum number of tokens."""
        return self.tokens - ENDS


ENGLISH = ModelFiles("granite-embedding-30m-english-int8", FILES / "english", dimension=384, tokens=256)
MULTILINGUAL = ModelFiles(
    "universal-sentence-encoder-multilingual-v3-int8", FILES / "multilingual", dimension=512, tokens=128
)


class LocalEmbedder(SingleModel):
    """An int8 model on one thread, loaded at first use unless asked to load."""

    def __init__(self, files: ModelFiles = ENGLISH):
        self.name = files.name
        self._files = files
        self._lock = Lock()
        self._model: _Model | None = None

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return self._files.dimension

    def problem(self) -> str | None:
        """The missing part: a runtime library or a model file."""
        from importlib.util import find_spec

        parts = [name for name in ("numpy", "onnxruntime", "tokenizers") if find_spec(name) is None]
        files = [name for name in (TOKENIZER, MODEL, TABLE) if not (self._files.folder / name).is_file()]
        if not parts and not files:
            return None
        return f"The embedding model {self.name} lacks {', '.join(parts + files)}: install Mnemic again."

    def load(self) -> None:
        """Read the model now (150 ms), so that the first text need not wait for it."""
        self._loaded()

    def windows(self, text: str) -> Sequence[Stretch]:
        """The stretches the model can read; a text of few bytes is one and needs no model."""
        size = self._files.inner_tokens
        # A token stands for a byte at least, so few bytes are few tokens.
        if len(text) <= size and len(text.encode(errors="replace")) <= size:
            return [(0, len(text))]
        words = self._loaded().words(text)
        return windows(text, words, size - SLACK, size // 8)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit vector a text; what lies beyond the tokens it can read is not read."""
        from mnemic.numeric import np

        model = self._loaded()
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        ids = [model.ids(text, self._files.tokens) for text in texts]
        for batch in batches([len(each) for each in ids]):
            vectors[batch] = model.run([ids[place] for place in batch])
        return vectors

    def close(self) -> None:
        """Nothing: there are no connections."""

    def _loaded(self) -> _Model:
        with self._lock:
            if self._model is None:
                self._model = _Model.load(self._files.folder)
            return self._model


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """The places of all texts, those of like length together, so that little is padded."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        # Sorted, so the newcomer is the longest and everything is padded to it.
        if batch and (len(batch) == BATCH_TEXTS or (len(batch) + 1) * lengths[place] > BATCH_TOKENS):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


@dataclass(frozen=True, slots=True)
class _Model:
    tokenizer: Any
    session: Any

    @classmethod
    def load(cls, folder: Path) -> _Model:
        try:
            return cls(_tokenizer(folder / TOKENIZER), _session(folder / MODEL))
        except Exception as error:  # tokenizers raises bare Exception
            raise Unavailable(f"The embedding model could not be loaded: {error}") from error

    def ids(self, text: str, most: int) -> list[int]:
        ids: list[int] = self.tokenizer.encode(readable(text)).ids
        return ids if len(ids) <= most else [*ids[: most - 1], ids[-1]]

    def words(self, text: str) -> WordOffsets:
        """The words of *text* and how many tokens lie before each."""
        encoding = self.tokenizer.encode(readable(text), add_special_tokens=False)
        numbers, offsets = encoding.word_ids, encoding.offsets  # each reading of these makes a new list
        firsts: list[int] = []
        for token, (start, _) in enumerate(offsets):
            is_new = not firsts or numbers[token] != numbers[token - 1]
            # Several tokens may share a character, which is not to be cut.
            if is_new or (token - firsts[-1] >= LONGEST_WORD and start > offsets[token - 1][0]):
                firsts.append(token)
        starts = [offsets[token][0] for token in firsts]
        return WordOffsets([*starts, len(text)], [*firsts, len(numbers)])

    def run(self, batch: Sequence[Sequence[int]]) -> Vectors:
        from mnemic.numeric import np

        shape = len(batch), max(map(len, batch))
        ids, mask = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        for row, each in enumerate(batch):
            ids[row, : len(each)] = each
            mask[row, : len(each)] = 1
        vectors: Vectors = self.session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
        return vectors


def readable(text: str) -> str:
    """*text* with a question mark for each lone surrogate, at which the tokenizer would raise."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def _tokenizer(path: Path) -> Any:
    from mnemic.embedding.runtime import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.encode_special_tokens = True  # "[SEP]" in someone's text is text
    return tokenizer


def _session(path: Path) -> Any:
    from mnemic.embedding.runtime import onnxruntime

    options = onnxruntime.SessionOptions()
    # Two spinning threads are slower than one when the other core is busy.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # The graph is built as it should run; further fusion would bring back slower kernels.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
