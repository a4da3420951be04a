"""The local daemon: one process per database that holds store, index and model for all clients of one user."""
