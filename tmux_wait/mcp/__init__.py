"""The MCP stdio server: one engine, and contracts that say under which names it is offered."""
