"""Readers of the event stream that record all events in the history."""

import contextlib
import http.client
import threading
from typing import Any

from . import projection, schemas
from .history import History
from .streams import StreamError, connect, cut, events


class Reader:
    """One connection to `/sim/api/events`.

    `after` is the id of the event after which the stream is to continue. `states` tells whether the
    history gets all states or only the first one.
    """

    def __init__(
        self,
        who: str,
        address: tuple[str, int],
        history: History,
        *,
        after: int | None = None,
        states: bool = True,
    ) -> None:
        self.who, self._history, self._states = who, history, states
        self.last: int | None = after
        self.count = 0
        #: `overlay_seq` of the last state received.
        self.overlay_seq = 0
        headers = {} if after is None else {"Last-Event-ID": str(after)}
        self._connection, self._response = connect(address, "/sim/api/events", headers)
        history.add("open", who=who, t=history.now(), after=after, status=self._response.status)

    def read(self, most: int | None = None) -> None:
        """Reads until the connection ends, or until `most` events have arrived."""
        try:
            for number, name, data in events(self._response):
                if name == "":
                    continue
                self._take(number, name, data)
                if most is not None and self.count >= most:
                    break
        except StreamError as error:
            self._wrong(str(error))
        except (OSError, http.client.HTTPException, ValueError, AttributeError):
            pass  # The connection was closed, by this client or by the server.

    def _take(self, number: int | None, name: str, data: Any) -> None:
        now = self._history.now()
        self.count += 1
        shape = schemas.EVENTS.get(name)
        wrong = "the event has no id" if number is None else None
        wrong = wrong or (f"unknown event {name!r}" if shape is None else shape(data))
        if wrong:
            self._wrong(f"{name}: {wrong}")
            return
        first, self.last = self.count == 1, number
        if first and name != "state":
            self._wrong(f"the first event is {name!r}, not a state")
        if name == "state":
            self.overlay_seq = data["overlay_seq"]
            if not self._states and not first:
                return
            data = projection.state(data)
        self._history.add("event", who=self.who, t=now, id=number, event=name, data=data)

    def _wrong(self, what: str) -> None:
        self._history.add("bad", who=self.who, t=self._history.now(), what=what)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            cut(self._connection)


class Follower:
    """Reads all events until the end of the soak test.

    After a lost connection it reconnects and continues after the last event that it received.
    """

    def __init__(self, who: str, address: tuple[str, int], history: History) -> None:
        self._who, self._address, self._history = who, address, history
        self._reader: Reader | None = None

    def has_received(self, overlay_seq: int) -> bool:
        """Whether the state with this overlay has arrived. If so, all earlier events have too."""
        return self._reader is not None and self._reader.overlay_seq >= overlay_seq

    def run(self, over: threading.Event) -> None:
        after, turn = None, 0
        while not over.is_set():
            who = f"{self._who}.{turn}"
            try:
                self._reader = reader = Reader(who, self._address, self._history, after=after)
            except (OSError, http.client.HTTPException):
                return
            closer = threading.Thread(target=lambda r=reader: (over.wait(), r.close()), daemon=True)
            closer.start()
            reader.read()
            after, turn = reader.last, turn + 1
            reader.close()
