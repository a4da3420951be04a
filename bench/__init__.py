"""Benchmarks: the budgets of the design measured beside a plain-SQLite floor and the reference server."""
