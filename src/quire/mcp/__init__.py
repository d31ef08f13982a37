"""The server for agents, over the Model Context Protocol. ``quire mcp`` starts it.

tool    what all tools share: arguments, answers that fit a number of tokens, cursors
tools   search, outline, get, context and status; for ChatGPT, search and fetch
server  the protocol: requests, resources, progress, cancellation; over HTTP, who may connect

Only ``server`` loads the ``mcp`` package.
"""
