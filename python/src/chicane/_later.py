"""Modules of the standard library that are imported on first use.

`asyncio` takes longer to import than this whole package, and blocking clients do not need it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio
else:

    class _Later:
        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, attribute: str) -> Any:
            value = getattr(import_module(self._name), attribute)
            setattr(self, attribute, value)
            return value

    asyncio = _Later("asyncio")

__all__ = ["asyncio"]
