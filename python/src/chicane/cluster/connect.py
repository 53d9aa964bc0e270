"""The connection to a Ray cluster."""

from __future__ import annotations

import logging
from typing import Any

from chicane.errors import ChicaneError


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
    try:
        ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False)
    except (ConnectionError, ValueError, RuntimeError, OSError) as error:
        reason = str(error).strip().splitlines()[0]
        raise ClusterError(
            f"there is no Ray cluster at {address!r} ({reason}): start one with `ray start --head`"
        ) from error
    return ray
