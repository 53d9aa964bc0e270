"""The replayer: a client that looks at recorded runs, verifies them and falsifies copies."""

import hashlib
import pathlib
import random
import subprocess
import threading
from typing import Any

from .history import History
from .operations import API
from .tracks import TracksError, read
from .web import Client

#: Timeout of a command of the program, such as `chicane verify`, in seconds.
VERIFY_TIMEOUT_S = 240.0
#: The replayer chooses each run from this number of newest records.
NEWEST = 30


def falsified(content: bytes, chance: random.Random) -> bytes:
    """A copy with one changed bit."""
    changed = bytearray(content)
    changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def judged(output: str, file: pathlib.Path) -> str:
    """The word that `chicane verify` printed before a file, such as `verified` or `damaged`.

    Returns `missing` if the output has no line for the file.
    """
    for line in output.splitlines():
        word, _, rest = line.partition(" ")
        if rest.strip().startswith(f"{file}:"):
            return word
    return "missing"


class Replayer:
    """Looks at one run after the other. The same request must always get the same bytes."""

    def __init__(
        self,
        seed: int,
        program: str,
        address: tuple[str, int],
        history: History,
        folder: pathlib.Path,
    ) -> None:
        self._chance = random.Random(f"replayer {seed}")
        self._program, self._address, self._history = program, address, history
        self._client = Client("replayer", address, history)
        self._folder = folder
        self._seen: list[str] = []
        #: Sessions that ended before their run began, so they have no run.
        self._empty: set[str] = set()

    def run(self, over: threading.Event, least: int) -> None:
        """Looks at runs until `over` is set, but at least at `least` runs, if there are any."""
        done = 0
        while done < least or not over.is_set():
            session = self._choose()
            if session is None:
                if over.wait(0.5):
                    break
                continue
            self._look(session)
            done += 1
            over.wait(self._chance.expovariate(1 / 2))
        self._client.close()

    def look_again(self, address: tuple[str, int]) -> None:
        """Reads the files of runs from another simulator with the same data folder."""
        client = Client("replayer again", address, self._history)
        for session in self._seen[:5]:
            client.fetch(f"{API}/evaluation/run?session={session}", allow=[200])
            client.fetch(f"{API}/evaluation/replay?session={session}", allow=[200])
        client.close()

    def _choose(self) -> str | None:
        if self._seen and self._chance.random() < 0.2:
            return self._chance.choice(self._seen)
        status, answer = self._client.ask("GET", f"{API}/evaluation/records?limit={NEWEST}")
        if status != 200:
            return None
        ended = [r["session"] for r in answer["records"] if r["outcome"] is not None]
        new = [one for one in ended if one not in self._seen and one not in self._empty]
        return self._chance.choice(new) if new else None

    def _look(self, session: str) -> None:
        query = f"session={session}"
        status, content = self._client.fetch(f"{API}/evaluation/run?{query}")
        if status != 200:
            self._empty.add(session)
            return
        if session not in self._seen:
            self._seen.append(session)
        status, tracks = self._client.fetch(f"{API}/evaluation/replay?{query}")
        duration = self._tracks(session, tracks) if status == 200 else 0.0
        times = [round(self._chance.uniform(0, duration + 0.1), 3) for _ in range(3)] * 2
        self._chance.shuffle(times)
        for time in times:
            self._client.fetch(f"{API}/evaluation/replay/camera?{query}&time={time}")
        self._client.fetch(f"{API}/evaluation/run?{query}")
        self._verify(session, content, tracks)

    def _tracks(self, session: str, content: bytes) -> float:
        wrong, header = None, {}
        try:
            header = read(content)
        except (TracksError, KeyError, TypeError, ValueError) as error:
            wrong = f"{type(error).__name__}: {error}"
        kept = {key: header.get(key) for key in ("duration", "samples", "complete")}
        self._history.add("tracks", t=self._history.now(), session=session, wrong=wrong, **kept)
        return float(header.get("duration", 0.0))

    def _verify(self, session: str, content: bytes, tracks: bytes) -> None:
        """Verifies a run and a falsified copy, and compares a replay's tracks with the server's."""
        self._folder.mkdir(parents=True, exist_ok=True)
        good, bad = self._folder / "run.chicane", self._folder / "false.chicane"
        made = self._folder / "tracks.bin"
        good.write_bytes(content)
        bad.write_bytes(falsified(content, self._chance))
        t0 = self._history.now()
        verify = self._command("verify", "--jobs", "1", str(good), str(bad))
        replay = self._command("replay", str(good), "--tracks", str(made))
        output = verify.get("output", "")
        self._history.add(
            "verify",
            t0=t0,
            t1=self._history.now(),
            session=session,
            exit_code=verify.get("exit_code"),
            run=judged(output, good),
            false=judged(output, bad),
            output=output[-400:],
            same_tracks=replay.get("exit_code") == 0 and made.read_bytes() == tracks,
            sha256=hashlib.sha256(content).hexdigest(),
        )
        for file in (good, bad, made):
            file.unlink(missing_ok=True)

    def _command(self, *arguments: str) -> dict[str, Any]:
        try:
            done = subprocess.run(
                [self._program, *arguments],
                capture_output=True,
                text=True,
                timeout=VERIFY_TIMEOUT_S,
            )
        except subprocess.TimeoutExpired:
            return {"exit_code": None, "output": f"no end within {VERIFY_TIMEOUT_S:g} s"}
        # The error output comes last, because it explains an exit status other than 0.
        return {"exit_code": done.returncode, "output": done.stdout + done.stderr}
