"""`python -m mnemic` is `mnemic`."""

from mnemic.surfaces.cli import main

main()
