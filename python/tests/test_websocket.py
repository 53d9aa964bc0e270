"""Tests of the frames and the handshake of WebSockets, without a connection."""

import base64
import hashlib
import unittest

from chicane._websocket import MAX_MESSAGE, Frames, Handshake, Opcode, frame
from chicane.errors import ProtocolError, Unauthorized


def unmasked(data: bytes) -> tuple[int, bytes]:
    """The opcode and the payload of a client's frame."""
    size, start = data[1] & 0x7F, 2
    if size >= 126:
        start = 4 if size == 126 else 10
        size = int.from_bytes(data[2:start], "big")
    mask, payload = data[start : start + 4], data[start + 4 :]
    assert data[1] & 0x80 and len(payload) == size
    return data[0], bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))


def accept(request: bytes) -> bytes:
    """The response of a server to a handshake."""
    key = request.partition(b"Sec-WebSocket-Key: ")[2].partition(b"\r\n")[0]
    digest = hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
    return (
        b"HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: "
        + base64.b64encode(digest)
        + b"\r\n\r\n"
    )


class WebSockets(unittest.TestCase):
    def test_frames_are_masked_and_have_their_length(self) -> None:
        for size in (0, 1, 5, 125, 126, 65535, 65536):
            payload = bytes(i % 251 for i in range(size))
            self.assertEqual(unmasked(frame(Opcode.BINARY, payload)), (0x82, payload))

    def test_messages_are_parsed_from_any_pieces(self) -> None:
        long = b"x" * 300
        data = b"\x81\x02hi\x01\x01a\x89\x01p\x80\x01b\x82\x7e\x01\x2c" + long
        whole = [
            (Opcode.TEXT, b"hi"),
            (Opcode.PING, b"p"),
            (Opcode.TEXT, b"ab"),
            (Opcode.BINARY, long),
        ]
        self.assertEqual(Frames().feed(data), whole)
        frames = Frames()
        got = [one for i in range(len(data)) for one in frames.feed(data[i : i + 1])]
        self.assertEqual(got, whole)

    def test_malformed_and_large_frames_are_refused(self) -> None:
        large = (MAX_MESSAGE + 1).to_bytes(8, "big")
        for data in (b"\x81\x80", b"\xf1\x00", b"\x83\x00", b"\x81\x7f" + large):
            with self.assertRaises(ProtocolError):
                Frames().feed(data)

    def test_handshake(self) -> None:
        one = Handshake("/speed/stream", b"Host: a\r\n")
        self.assertTrue(one.request.startswith(b"GET /speed/stream HTTP/1.1\r\n"))
        self.assertIn(b"\r\nHost: a\r\n", one.request)
        response = accept(one.request)
        self.assertIsNone(one.feed(response[:20]))
        self.assertEqual(one.feed(response[20:] + b"\x81\x00"), b"\x81\x00")
        with self.assertRaises(ProtocolError):
            Handshake("/", b"").feed(response)
        with self.assertRaises(ProtocolError):
            Handshake("/", b"").feed(b"")

    def test_refused_handshake_has_the_reason(self) -> None:
        body = b'{"error": "a token is needed", "code": "unauthorized"}'
        head = f"HTTP/1.1 401 Unauthorized\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        one = Handshake("/speed/stream", b"")
        self.assertIsNone(one.feed(head + body[:5]))
        with self.assertRaises(Unauthorized) as caught:
            one.feed(body[5:])
        self.assertEqual(caught.exception.text, "a token is needed")


if __name__ == "__main__":
    unittest.main()
