"""The house vocabulary: a small set of verbs over one memory."""

from mnemic.dialects.mnemic import changing, finding, linking, remembering
from mnemic.dialects.mnemic.vocabulary import MNEMIC

__all__ = ["MNEMIC", "changing", "finding", "linking", "remembering"]
