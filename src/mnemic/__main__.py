"""`python -m mnemic` is `mnemic`."""

from mnemic.cli import main

main()
