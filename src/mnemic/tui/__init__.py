"""The terminal interface of `mnemic tui`: search, open, edit, link, review and undo. Needs the extra `mnemic[tui]`."""
