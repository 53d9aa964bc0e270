"""What all clients have in common: address, token, patience, and how a lost stream comes back."""

from __future__ import annotations

import os
import time

from chicane._http import Address

DEFAULT_URL = "http://127.0.0.1:8000"
SILENCE_S = 45.0
"""A stream is lost after so much silence; whoever sends one says something every 15 s."""
FRESH_S = 1.0
"""A connection that was used so lately is not looked at before it is used again."""
KEPT = 8
"""Idle connections that are kept."""


class Settings:
    """Address, token and timeout of a client."""

    def __init__(self, url: str | None, token: str | None, timeout: float) -> None:
        self.address = Address.parse(url or os.environ.get("CHICANE_URL") or DEFAULT_URL)
        if not timeout > 0:
            raise ValueError("timeout must be a number of seconds above 0")
        self.timeout = timeout
        token = token or self.address.token or os.environ.get("CHICANE_TOKEN")
        if token and not (token.isascii() and token.isprintable()):
            raise ValueError("a token has printable characters of ASCII only")
        lines = f"Host: {self.address.netloc}\r\n"
        if token:
            lines += f"Authorization: Bearer {token}\r\n"
        self.fixed = lines.encode("ascii")


class Comeback:
    """How long to wait before a lost stream is opened again, and when to give up."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._delay = 0.0
        self._since: float | None = None

    def arrived(self) -> None:
        """It is there again."""
        self._delay, self._since = 0.0, None

    def wait(self, why: Exception) -> float:
        """Seconds until the next attempt; raises `why` when there were enough."""
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        if now - self._since >= self._patience:
            raise why
        delay, self._delay = self._delay, min(max(0.1, 2 * self._delay), 5.0)
        return delay
