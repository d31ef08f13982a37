"""The server for agents, over the Model Context Protocol. ``quire mcp`` starts it.

answers  what all tools share: arguments, answers that fit a number of tokens, cursors
tools    search, outline, get, context, check and status
chatgpt  search and fetch, as ChatGPT connectors expect them
server   the protocol: requests, resources, progress, cancellation; over HTTP, who may connect

Only ``server`` loads the ``mcp`` package.
"""
