"""A bucket for pages that publish to one: moto, a server of S3 that others wrote, with one bucket.

A page that has the remark `bucket name port` speaks of a server that its reader has already.
"""

import pathlib
import sys
import time
import urllib.error
import urllib.request

from .markdown import PageError
from .reader import PATIENCE, Reader, alive

SERVER = pathlib.Path(sys.executable).with_name("moto_server")


def start(reader: Reader, line: int, name: str, port: str) -> None:
    """Starts a server on the port that the page names, and makes the bucket."""
    if not SERVER.exists():
        raise PageError(line, f"there is no {SERVER}: make need-moto installs it")
    output = reader.private / "bucket.out"
    own = str(reader.ports[int(port)])
    process = reader.start(
        [str(SERVER), "-H", "127.0.0.1", "-p", own],
        output,
        str(reader.private),
        env=reader.environment,
    )
    until = time.monotonic() + PATIENCE
    while not made(f"http://127.0.0.1:{own}/{name}"):
        if not alive(process) or time.monotonic() > until:
            raise PageError(line, f"no bucket:\n{reader.printed(output)}")
        time.sleep(0.05)


def made(bucket: str) -> bool:
    """Makes a bucket whose files everyone may read; tells whether the server was there to do so."""
    request = urllib.request.Request(bucket, method="PUT", headers={"x-amz-acl": "public-read"})
    try:
        with urllib.request.urlopen(request, timeout=10):
            return True
    except urllib.error.HTTPError:
        raise
    except OSError:
        return False
