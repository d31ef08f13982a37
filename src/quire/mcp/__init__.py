"""The server for agents, over the Model Context Protocol: ``quire mcp``. Only ``server`` loads the ``mcp`` package."""
