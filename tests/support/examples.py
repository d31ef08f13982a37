"""Documents that the seeds show, for tests of several stages."""

from __future__ import annotations

AUTHENTICATION = """\
# Authentication

Overview of auth methods.

## Basic Auth

Send credentials in the Authorization header.
Username and password are base64 encoded.

## OAuth

OAuth 2.0 flow for third-party access.

### Authorization Code

The most common OAuth grant type...
(long section with many paragraphs)
"""
"""The example of the sections strategy: four headings, each with a little text."""
