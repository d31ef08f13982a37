"""The inspector: a local page that shows how documents are cut and searched. ``quire web`` starts it.

chunk_view          the chunks of a document as the page draws them
score_explanation   hits as the page shows them, with the reasons for their rank in words
inspector           the server's answers, the documents that the page may read, and who may ask: Host, Origin, token
html_pages          a page without a server, with one document: ``quire web --export``
local_server        a server on this machine: limits, Ctrl-C, which requests come from here; also for agents
assets/             the page, its style and its script

Only ``inspector`` and ``local_server`` load Starlette.
"""
