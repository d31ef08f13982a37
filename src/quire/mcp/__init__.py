"""The server for agents, over the Model Context Protocol. ``quire mcp`` starts it.

token_limit   answers that fit a number of tokens
tools         search, outline, get, context and status
tool_schemas  the arguments of the tools
chatgpt       search and fetch as ChatGPT connectors expect them
resources     documents as resources, with templates and completion
server        the protocol: requests, progress, cancellation; over HTTP, who may connect

Only ``server`` loads the ``mcp`` package.
"""
