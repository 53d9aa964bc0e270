"""An S3 bucket for pages that publish to S3. The mock server moto provides the bucket.

The remark `bucket name port` on a page starts the server and creates the bucket.
"""

import pathlib
import sys
import time
import urllib.error
import urllib.request

from .markdown import PageError
from .sandbox import BLOCK_TIMEOUT_S, Sandbox, alive

SERVER = pathlib.Path(sys.executable).with_name("moto_server")


def start(sandbox: Sandbox, line: int, name: str, port: str) -> None:
    """Starts a server on the port that the page names, and creates the bucket."""
    if not SERVER.exists():
        raise PageError(line, f"{SERVER} is missing: install it with `make need-moto`")
    output = sandbox.private / "bucket.out"
    own = str(sandbox.ports[int(port)])
    process = sandbox.start(
        [str(SERVER), "-H", "127.0.0.1", "-p", own],
        output,
        str(sandbox.private),
        env=sandbox.environment,
    )
    until = time.monotonic() + BLOCK_TIMEOUT_S
    while not create(f"http://127.0.0.1:{own}/{name}"):
        if not alive(process) or time.monotonic() > until:
            raise PageError(line, f"the bucket server did not start:\n{sandbox.printed(output)}")
        time.sleep(0.05)


def create(bucket: str) -> bool:
    """Creates a public bucket. Returns False if the server does not accept connections yet."""
    request = urllib.request.Request(bucket, method="PUT", headers={"x-amz-acl": "public-read"})
    try:
        # The first request takes long, because the server then imports most of its modules.
        with urllib.request.urlopen(request, timeout=BLOCK_TIMEOUT_S):
            return True
    except urllib.error.HTTPError:
        raise
    except OSError:
        return False
