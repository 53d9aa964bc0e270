"""asyncio: tasks with streams of their own, and sleeps between the requests."""

import asyncio
import contextlib
import json

from car import HOST, PORT, checksum, drive, microseconds, ready, say


class Connection:
    """A connection that is kept open for many requests."""

    async def open(self):
        self.reader, self.writer = await asyncio.open_connection(HOST, int(PORT))
        return self

    async def request(self, path: str, body=None):
        data = b"" if body is None else json.dumps(body).encode()
        head = f"{'GET' if body is None else 'POST'} {path} HTTP/1.1\r\nHost: {HOST}:{PORT}\r\n"
        if data:
            head += f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n"
        self.writer.write(head.encode() + b"\r\n" + data)
        await self.writer.drain()
        answer = await self.reader.readuntil(b"\r\n\r\n")
        fields = [line.split(b": ", 1) for line in answer.lower().split(b"\r\n")[1:-2]]
        return json.loads(await self.reader.readexactly(int(dict(fields)[b"content-length"])))


async def read(path: str, pause: float, latest: dict):
    connection = await Connection().open()
    while True:
        latest[path] = await connection.request(path)
        latest["count"] += 1
        await asyncio.sleep(pause)


async def main():
    latest = {"count": 0}
    readers = [
        asyncio.create_task(read("/lidar?step=15", 0.0417, latest)),
        asyncio.create_task(read("/odom", 0.0233, latest)),
    ]
    connection = await Connection().open()
    for number in range(60):
        await connection.request("/drive", drive(latest, microseconds()))
        if number % 15 == 0:
            say(latest["count"], checksum(latest))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), timeout=0.0561)
    for reader in readers:
        reader.cancel()
    await asyncio.gather(*readers, return_exceptions=True)


ready()
asyncio.run(main())
