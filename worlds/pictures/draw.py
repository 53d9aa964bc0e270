"""Draws the pictures of the shipped worlds: python3 worlds/pictures/draw.py

The pictures consist of rectangles, a few curves, and noise from a hash. The script needs only the
standard library.
"""

import math
import struct
import zlib
from pathlib import Path

HERE = Path(__file__).parent


class Picture:
    """Pixels, x to the right and y down, as rows of (r, g, b, a)."""

    def __init__(self, width: int, height: int, colour: str) -> None:
        self.width, self.height = width, height
        self.rows = [[rgb(colour)] * width for _ in range(height)]

    def fill(self, x: int, y: int, width: int, height: int, colour: str) -> None:
        """Fills a rectangle. Parts outside the picture are clipped."""
        for row in self.rows[max(y, 0) : max(y + height, 0)]:
            for i in range(max(x, 0), min(x + width, self.width)):
                row[i] = rgb(colour)

    def shape(self, inside, colour: str) -> None:
        """Fills every pixel whose centre satisfies `inside(x, y)`."""
        for y, row in enumerate(self.rows):
            for x in range(self.width):
                if inside(x + 0.5, y + 0.5):
                    row[x] = rgb(colour)

    def grain(self, strength: int) -> None:
        """Changes the brightness of each pixel by up to `strength`, by a hash of its position."""
        for y, row in enumerate(self.rows):
            for x, (r, g, b, a) in enumerate(row):
                h = (x * 374761393 + y * 668265263) & 0xFFFFFFFF
                h = ((h ^ (h >> 13)) * 1274126177) & 0xFFFFFFFF
                d = (h >> 16) % (2 * strength + 1) - strength
                row[x] = (*(min(max(v + d, 0), 255) for v in (r, g, b)), a)

    def save(self, name: str) -> None:
        data = b"".join(b"\0" + bytes(v for pixel in row for v in pixel) for row in self.rows)
        head = struct.pack(">IIBBBBB", self.width, self.height, 8, 6, 0, 0, 0)
        parts = [(b"IHDR", head), (b"IDAT", zlib.compress(data, 9)), (b"IEND", b"")]
        chunks = [
            struct.pack(">I", len(d)) + t + d + struct.pack(">I", zlib.crc32(t + d))
            for t, d in parts
        ]
        (HERE / f"{name}.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunks))


TRANSPARENT = "f2f2f200"
WHITE = "f2f2f2"


def rgb(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour if len(colour) == 8 else colour + "ff"))


def window(p: Picture, x: int, y: int, frame: str, glass: str) -> None:
    p.fill(x - 3, y - 3, 34, 46, frame)
    p.fill(x, y, 28, 40, glass)
    p.fill(x, y, 28, 9, "c4d8e4")
    p.fill(x + 13, y, 2, 40, frame)
    p.fill(x, y + 19, 28, 2, frame)


def house(name: str, wall: str, frame: str, door: str, courses) -> None:
    p = Picture(256, 192, wall)
    courses(p)
    p.grain(5)
    p.fill(0, 0, 256, 7, frame)
    p.fill(0, 182, 256, 10, "55565a")
    for row, y in enumerate((24, 100)):
        for column in range(4):
            x = 24 + 60 * column
            if row == 1 and column == 1:
                p.fill(x - 3, y - 3, 38, 86, frame)
                p.fill(x, y, 32, 82, door)
                p.fill(x + 25, y + 42, 3, 5, "e8d9a0")
            else:
                window(p, x, y, frame, "6f93ab")
    p.save(name)


def bricks(p: Picture) -> None:
    for row, y in enumerate(range(0, p.height, 8)):
        p.fill(0, y, p.width, 1, "8c5a48")
        for x in range(-16 + 10 * (row % 2), p.width, 20):
            p.fill(x, y, 1, 8, "8c5a48")


def plaster(p: Picture) -> None:
    p.fill(0, 88, p.width, 4, "d9cdb2")


def timber(p: Picture) -> None:
    beam = "5b4030"
    for x in (0, 84, 168, 250):
        p.fill(x, 0, 7, p.height, beam)
    for y in (0, 86, 176):
        p.fill(0, y, p.width, 7, beam)
    for x in (7, 175):
        p.shape(lambda u, v, x=x: x <= u < x + 75 and abs((u - x) * 79 / 75 + 93 - v) < 4, beam)


def roof() -> None:
    p = Picture(128, 128, "6e4138")
    for row, y in enumerate(range(0, 128, 8)):
        p.fill(0, y, 128, 1, "4f2d27")
        for x in range(-8 + 4 * (row % 2), 128, 8):
            p.fill(x, y, 1, 8, "5e362f")
    p.grain(6)
    p.save("roof")


def paving() -> None:
    """Slabs of 25 cm. The texture repeats every metre."""
    p = Picture(256, 256, "8d9096")
    tones = ("8a8d93", "92959b", "878a90", "8f9298", "8b8e94")
    for row in range(4):
        for column in range(4):
            p.fill(column * 64, row * 64, 64, 64, tones[(3 * row + 2 * column) % 5])
            p.fill(column * 64, row * 64, 64, 1, "787b81")
            p.fill(column * 64, row * 64, 1, 64, "787b81")
    p.grain(4)
    p.save("paving")


def water() -> None:
    """A pond with a sandy shore and transparent corners."""

    def reach(x: float, y: float) -> float:
        """Relative distance from the centre: 1 at the shore, less inside."""
        u, v = (x - 128) / 122, (y - 64) / 58
        angle = math.atan2(v, u)
        shore = 0.86 + 0.08 * math.sin(3 * angle + 0.7) + 0.05 * math.sin(5 * angle + 2.1)
        return math.hypot(u, v) / shore

    p = Picture(256, 128, "c9b98a00")
    p.shape(lambda x, y: reach(x, y) < 1.0, "c9b98a")
    p.shape(lambda x, y: reach(x, y) < 0.93, "4e8fb3")
    p.shape(lambda x, y: reach(x, y) < 0.78, "3f7fa6")
    for y in range(6, 128, 12):
        for k in range(5):
            left = (k * 61 + y * 7) % 256
            p.shape(
                lambda u, v, x=left, y=y: x < u < x + 22 and y < v < y + 2 and reach(u, v) < 0.85,
                "6ba6c6",
            )
    p.grain(3)
    p.save("water")


def zebra() -> None:
    p = Picture(108, 70, TRANSPARENT)
    for x in range(6, 108, 24):
        p.fill(x, 0, 12, 70, WHITE)
    p.grain(3)
    p.save("zebra")


def arrow() -> None:
    """An arrow to the right."""
    p = Picture(128, 64, TRANSPARENT)
    p.fill(10, 25, 66, 14, WHITE)
    p.shape(lambda x, y: 76 <= x < 118 and abs(y - 32) < (118 - x) * 0.6, WHITE)
    p.grain(3)
    p.save("arrow")


def parking() -> None:
    """Two parking bays side by side."""
    p = Picture(160, 100, "55575c")
    for x in (0, 78, 156):
        p.fill(x, 0, 4, 100, WHITE)
    p.fill(0, 96, 160, 4, WHITE)
    p.grain(3)
    p.save("parking")


def chequers() -> None:
    p = Picture(256, 128, WHITE)
    for row in range(8):
        for column in range(16):
            if (row + column) % 2:
                p.fill(column * 16, row * 16, 16, 16, "26272b")
    p.grain(3)
    p.save("chequers")


if __name__ == "__main__":
    house("house_brick", "a8715c", "efe9dc", "2f4f5e", bricks)
    house("house_plaster", "e6dcc4", "7a6a55", "7b3b2e", plaster)
    house("house_timber", "efe6d2", "5b4030", "3e5a3c", timber)
    roof()
    paving()
    water()
    zebra()
    arrow()
    parking()
    chequers()
