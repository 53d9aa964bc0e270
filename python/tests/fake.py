"""A scripted HTTP server that sends given bytes, to test clients with invalid responses."""

import socket
import threading


class Fake:
    """A server that follows a script.

    Each list of `connections` holds the responses of one connection, one per request. The server
    closes the connection after the last response.
    """

    def __init__(self, *connections: list[bytes]) -> None:
        self.requests: list[bytes] = []
        self._script = list(connections)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.released = threading.Event()
        """A test sets this event to close connections that a response with the suffix HOLD keeps
        open.
        """
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    HOLD = b"#hold#"

    def _serve(self) -> None:
        for answers in self._script:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(30)
                for answer in answers:
                    self.requests.append(self._request(connection))
                    connection.sendall(answer.removesuffix(self.HOLD))
                    if answer.endswith(self.HOLD):
                        self.released.wait(30)

    def _request(self, connection: socket.socket) -> bytes:
        data = b""
        while b"\r\n\r\n" not in data:
            piece = connection.recv(65536)
            if not piece:
                return data
            data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        for header in head.split(b"\r\n"):
            if header.lower().startswith(b"content-length:"):
                while len(body) < int(header.split(b":")[1]):
                    body += connection.recv(65536)
        return head + b"\r\n\r\n" + body

    def close(self) -> None:
        self.released.set()
        # The shutdown wakes the thread if it waits in `accept`.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(30)


def ok(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """A response with a Content-Length."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def chunked(*pieces: bytes, kind: str = "application/json", end: bool = True) -> bytes:
    """A chunked response. `end`: whether the response has the final empty chunk."""
    head = f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: {kind}\r\n\r\n".encode()
    body = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    return head + body + (b"0\r\n\r\n" if end else b"")
