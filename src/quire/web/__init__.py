"""The local page of ``quire web``. Only ``inspector`` and ``local_server`` load Starlette."""
