"""Settings that all clients share, and the delays with which streams reconnect."""

from __future__ import annotations

import os
import time

from chicane._http import Address

DEFAULT_URL = "http://127.0.0.1:8000"
STREAM_TIMEOUT_S = 45.0
"""A stream without data for this many seconds is lost, and the client reconnects.

A stream of events has a heartbeat every 15 s. A stream of pictures has none, so it also reconnects
if simulated time was paused for this long.
"""
SKIP_STALE_CHECK_S = 1.0
"""A connection that was used less than this many seconds ago is reused without a check."""
MAX_IDLE = 8
"""Largest number of idle connections of a client."""


class Settings:
    """Address, token and timeout of a client."""

    def __init__(self, url: str | None, token: str | None, timeout: float) -> None:
        self.address = Address.parse(url or os.environ.get("CHICANE_URL") or DEFAULT_URL)
        if not timeout > 0:
            raise ValueError(f"timeout must be a number of seconds above 0, not {timeout!r}")
        self.timeout = timeout
        token = token or self.address.token or os.environ.get("CHICANE_TOKEN")
        if token and not (token.isascii() and token.isprintable()):
            raise ValueError("the token must consist of printable ASCII characters")
        lines = f"Host: {self.address.netloc}\r\n"
        if token:
            lines += f"Authorization: Bearer {token}\r\n"
        self.fixed = lines.encode("ascii")


class Reconnect:
    """Delays between attempts to reopen a lost stream, and the time at which to give up."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._delay = 0.0
        self._since: float | None = None

    def arrived(self) -> None:
        """Resets the delays, because data has arrived again."""
        self._delay, self._since = 0.0, None

    def wait(self, why: Exception) -> float:
        """Returns the seconds until the next attempt. Raises `why` after `patience` seconds."""
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        if now - self._since >= self._patience:
            raise why
        delay, self._delay = self._delay, min(max(0.1, 2 * self._delay), 5.0)
        return delay
