"""The programs that can use Mnemic over MCP: where each keeps its configuration, and how it is edited."""

from mnemic.surfaces.clients.catalogue import CLIENTS, Client, Machine, Scope, this_machine
from mnemic.surfaces.clients.editing import Edit, Server, Setup, configured, plan_install, plan_uninstall

__all__ = [
    "CLIENTS",
    "Client",
    "Edit",
    "Machine",
    "Scope",
    "Server",
    "Setup",
    "configured",
    "plan_install",
    "plan_uninstall",
    "this_machine",
]
