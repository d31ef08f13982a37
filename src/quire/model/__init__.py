"""The values that stages pass on, and what all of them share. Imports nothing but ``errors``."""
