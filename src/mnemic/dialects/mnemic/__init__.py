"""The house vocabulary: a small set of verbs over one memory."""

# The order of these imports is the order in which an agent sees the tools.
# isort: off
from mnemic.dialects.mnemic import remembering
from mnemic.dialects.mnemic import finding
from mnemic.dialects.mnemic import linking
from mnemic.dialects.mnemic import changing
from mnemic.dialects.mnemic import tidying
from mnemic.dialects.mnemic.vocabulary import MNEMIC
# isort: on

__all__ = ["MNEMIC", "changing", "finding", "linking", "remembering", "tidying"]
