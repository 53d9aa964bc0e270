"""Client methods that are written once for the blocking and the asynchronous clients.

Most methods of `Sim`, `Robot` and `Builder` are functions that build a `Call` from their arguments.
A decorator of this module turns such a function into a method that sends the request. On a blocking
client the method returns the result. On an asynchronous client it returns an awaitable. The other
decorators make methods that open a stream or send several requests.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import update_wrapper
from types import MethodType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from chicane._call import Call, Feed, Procedure, given, request

if TYPE_CHECKING:
    from chicane._aclient import AsyncClient, AsyncStream
    from chicane._client import Client, Stream

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class Operation(Generic[P, R]):
    """A method that sends one request."""

    def __init__(
        self, method: str, path: str, build: Callable[Concatenate[Any, P], Call[R]]
    ) -> None:
        self.method = method
        self.path = path
        self.build = build

        def run(client: Any, /, *args: P.args, **kwargs: P.kwargs) -> Any:
            return client.run(request(method, path, build(client, *args, **kwargs)))

        self._run = update_wrapper(run, build)
        self.__doc__ = build.__doc__

    @overload
    def __get__(self, client: None, owner: type) -> Operation[P, R]: ...
    @overload
    def __get__(self, client: Client, owner: type) -> Callable[P, R]: ...
    @overload
    def __get__(self, client: AsyncClient, owner: type) -> Callable[P, Awaitable[R]]: ...
    def __get__(self, client: Any, owner: type) -> Any:
        return self if client is None else MethodType(self._run, client)


def operation(
    method: str, path: str
) -> Callable[[Callable[Concatenate[Any, P], Call[R]]], Operation[P, R]]:
    """Decorator: turns a function that builds a `Call` into a method that sends one request."""
    return lambda build: Operation(method, path, build)


class Streamed(Generic[P, T]):
    """A method that opens a stream and returns an iterator."""

    method = "GET"

    def __init__(
        self,
        path: str,
        feed: Callable[[dict[str, str]], Feed[T]],
        build: Callable[Concatenate[Any, P], Call[T]],
    ) -> None:
        self.path = path
        self.build = build

        def run(client: Any, /, *args: P.args, **kwargs: P.kwargs) -> Any:
            return client.follow(request("GET", path, build(client, *args, **kwargs)), feed)

        self._run = update_wrapper(run, build)
        self.__doc__ = build.__doc__

    @overload
    def __get__(self, client: None, owner: type) -> Streamed[P, T]: ...
    @overload
    def __get__(self, client: Client, owner: type) -> Callable[P, Stream[T]]: ...
    @overload
    def __get__(self, client: AsyncClient, owner: type) -> Callable[P, AsyncStream[T]]: ...
    def __get__(self, client: Any, owner: type) -> Any:
        return self if client is None else MethodType(self._run, client)


def streamed(
    path: str, feed: Callable[[dict[str, str]], Feed[T]]
) -> Callable[[Callable[Concatenate[Any, P], Call[T]]], Streamed[P, T]]:
    """Decorator: turns a function that builds a `Call` into a method that opens a stream."""
    return lambda build: Streamed(path, feed, build)


class Sequence(Generic[P, R]):
    """A method that sends several requests in a row."""

    def __init__(self, build: Callable[Concatenate[Any, P], Procedure[R]]) -> None:
        self.build = build

        def run(client: Any, /, *args: P.args, **kwargs: P.kwargs) -> Any:
            return client.proceed(build(client, *args, **kwargs))

        self._run = update_wrapper(run, build)
        self.__doc__ = build.__doc__

    @overload
    def __get__(self, client: None, owner: type) -> Sequence[P, R]: ...
    @overload
    def __get__(self, client: Client, owner: type) -> Callable[P, R]: ...
    @overload
    def __get__(self, client: AsyncClient, owner: type) -> Callable[P, Awaitable[R]]: ...
    def __get__(self, client: Any, owner: type) -> Any:
        return self if client is None else MethodType(self._run, client)


def sequence(build: Callable[Concatenate[Any, P], Procedure[R]]) -> Sequence[P, R]:
    """Decorator: turns a procedure into a method that sends its requests."""
    return Sequence(build)


__all__ = [
    "Call",
    "Operation",
    "Sequence",
    "Streamed",
    "given",
    "operation",
    "sequence",
    "streamed",
]
