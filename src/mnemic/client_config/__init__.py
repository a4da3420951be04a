"""The programs that can use Mnemic over MCP: where each keeps its configuration, and how it is edited."""

from mnemic.client_config.clients import CLIENTS, Client, ConfigScope, Machine, this_machine
from mnemic.client_config.plan import Edit, ServerEntry, Setup, configured, plan_install, plan_uninstall
from mnemic.client_config.record import Records

__all__ = [
    "CLIENTS",
    "Client",
    "ConfigScope",
    "Edit",
    "Machine",
    "Records",
    "ServerEntry",
    "Setup",
    "configured",
    "plan_install",
    "plan_uninstall",
    "this_machine",
]
