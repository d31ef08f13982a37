"""Nodes -> disk: what is known of the files and their sections, in one commit of the engine."""
