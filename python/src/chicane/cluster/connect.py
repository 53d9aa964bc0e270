"""The connection to a Ray cluster."""

from __future__ import annotations

import logging
import socket
from typing import Any
from urllib.parse import urlsplit

from chicane.errors import ChicaneError

REACH_S = 10.0
"""Seconds to wait for an answer of the cluster's address. Ray itself waits for many minutes."""


class ClusterError(ChicaneError):
    """Ray is not installed, the cluster can't be reached, or a node can't do the work."""


def connect(address: str = "auto") -> Any:
    """Connects to a cluster and returns the module `ray`.

    `address`: `auto` for the cluster of this machine, or the address of another one, such as
    `ray://head:10001`. An existing connection is kept.

    Raises `ClusterError` if Ray is not installed or the cluster can't be reached.
    """
    try:
        import ray
    except ImportError as error:
        raise ClusterError("Ray is not installed: pip install 'chicane[ray]'") from error
    if ray.is_initialized():
        return ray
    _reach(address)
    try:
        ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False)
    except (ConnectionError, ValueError, RuntimeError, OSError) as error:
        raise _missing(address, str(error).strip().splitlines()[0]) from error
    return ray


def _missing(address: str, reason: str) -> ClusterError:
    return ClusterError(
        f"there is no Ray cluster at {address!r} ({reason}): start one with `ray start --head`"
    )


def _reach(address: str) -> None:
    """Raises `ClusterError` if the address has a port and nothing listens there."""
    try:
        parts = urlsplit(address if "//" in address else f"//{address}")
        place = (parts.hostname, parts.port)
    except ValueError as error:
        raise _missing(address, str(error)) from error
    if None in place:
        # `auto` and similar words have no port. For them, Ray looks for a cluster on this machine.
        return
    try:
        socket.create_connection(place, timeout=REACH_S).close()  # type: ignore[arg-type]
    except OSError as error:
        raise _missing(address, error.strerror or str(error)) from error
