"""In-memory indexes of one store that follow its journal: columns, BM25 and vectors as of one moment."""
