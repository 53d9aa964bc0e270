"""Runs a judging script for the simulator.

The simulator starts this program in a jail and talks to it over one socket, one line of JSON per
message. Poses of moved objects follow their line as bytes. The simulator sends a call (`load`,
`initialize`, `evaluate`, `check`), and this program runs the script. For each action of the script
this program sends a message. It waits for the simulator's answer, unless the message is a record. A
call ends with `answer`, `raised` or `checked`. The script's output goes to the standard output of
the jail, so that output cannot be mistaken for a message.

A container of podman or docker has no such socket. There the messages use standard input and
output. These two are moved to other descriptors before the script starts. In such a container this
program is also process 1 (see `first`).

Only the standard library is used. The messages are defined in the simulator's crate `wire`
(version 3). This program is a single file, because the simulator embeds it as text and copies it
into the jail or container.
"""

# The imports at the top delay the start of every session, so rarely used modules are imported where
# they are needed. Only the C part of `json` is imported. The rest of `json` imports `re`, which
# takes longer than all other imports together.
import math
import os
import sys
from _json import encode_basestring, make_encoder, make_scanner
from _operator import itemgetter
from _struct import Struct
from _thread import RLock

VERSION = 3
PYTHON = (3, 14)
SCRIPT = "evaluation.py"
MAX_RECORD = 16 * 1024
MAX_LINE = 1 << 20
MAX_DEPTH = 32
MAX_WHOLE = 2**63
POSE = ("x", "y", "z", "yaw")
# A row of a moved object: its position in the list of names, x, y, z, roll, pitch, yaw, quaternion.
ROW = Struct("<I10d")
MOTION = ("duration", "path", "speed", "loop")


class SimError(Exception):
    """The simulator refused an action."""


class View(dict):
    """A mapping whose values can be read as d["x"] and as d.x."""

    __slots__ = ()

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name, value):
        self[name] = value

    def __delattr__(self, name):
        try:
            del self[name]
        except KeyError:
            raise AttributeError(name) from None


class Pose(View):
    """The pose of an object.

    Its keys are properties. Scripts read them often, and a property is faster than `__getattr__`.
    """

    __slots__ = ()


def own_key(key):
    """A property that reads and writes this key of a mapping."""

    def put(self, value):
        self[key] = value

    def drop(self):
        del self[key]

    return property(itemgetter(key), put, drop)


for key in ("x", "y", "z", "roll", "pitch", "yaw", "q"):
    setattr(Pose, key, own_key(key))


class Reading:
    """Options of the JSON scanner: mappings become views, and NaN is an error."""

    strict = True
    object_hook = None
    object_pairs_hook = View
    parse_float = float
    parse_int = int

    @staticmethod
    def parse_constant(name):
        raise ValueError(f"{name} is not JSON")


# The scanner is created once, because every message needs it.
scan = make_scanner(Reading)


def encode(message):
    """Encodes a value of plain JSON types as bytes."""
    write = make_encoder({}, None, encode_basestring, None, ":", ",", False, False, False)
    return "".join(write(message, 0)).encode()


GO_ON = b'{"type":"answer","finish":false}\n'
NOT_NOW = "this works only inside initialize and evaluate"


class Channel:
    """The channel to the simulator. Only one thread at a time uses it. The script can use it only
    while the harness runs one of the simulator's calls: `load`, `initialize` or `evaluate`."""

    def __init__(self, reading, writing=None, mark=None):
        self.number = reading if writing is None else writing
        self.lines = open(reading, "rb", buffering=1 << 16, closefd=False)  # noqa: SIM115
        # A mark is a line in the script's output that shows where the output of a call ends. `mark`
        # is the prefix of these lines (the container's name), or `None` if output and messages
        # arrive in order, so that no marks are needed. `marked` is the number of the last mark.
        self.mark = mark
        self.marked = 0
        self.lock = RLock()
        self.in_call = False
        # Bytes that are not written yet, and answers that are not read yet. Both are left over if a
        # signal handler of the script raises an exception during an action.
        self.unsent = b""
        self.unread = 0
        os.register_at_fork(after_in_child=self.forget)

    def forget(self):
        """Disables the channel in a forked child process, because only the parent may use it."""
        self.lock = RLock()
        self.in_call = False

    def send(self, message):
        self.write(encode(message) + b"\n")

    def write(self, line):
        self.unsent += line
        while self.unsent:
            sent = os.write(self.number, self.unsent)
            self.unsent = self.unsent[sent:]

    def settle(self):
        """Writes the rest of an interrupted action, and reads the answers of such actions."""
        self.write(b"")
        # Reading an answer needs a deeper stack than the rest of this method, and a RecursionError
        # in the middle of the reading would lose the answer. This scan needs as deep a stack as
        # the reading, so that the error is raised before the reading begins.
        scan('{"error":[{}]}', 0)
        while self.unread:
            self.receive()
            self.unread -= 1

    def receive(self):
        line = self.lines.readline()
        if not line:
            os._exit(0)  # The simulator closed the channel, so the jail or container ends.
        message = scan(line.decode(), 0)[0]
        if "moved" in message:
            message["moved"] = self.lines.read(ROW.size * message["moved"])
        return message

    def say(self, line):
        """Sends a message that the simulator does not answer."""
        with self.lock:
            if not self.in_call:
                raise SimError(NOT_NOW)
            self.write(line)

    def ask(self, line):
        """Sends an action and waits for the answer. Raises SimError if the action is refused."""
        with self.lock:
            if not self.in_call:
                raise SimError(NOT_NOW)
            # Of the calls below, `settle` needs the deepest stack. A RecursionError therefore
            # occurs there, before the action is sent.
            self.settle()
            self.unread += 1
            self.write(line)
            error = self.receive().get("error")
            self.unread -= 1
        if error is not None:
            raise SimError(error)

    def end_call(self, message):
        with self.lock:
            self.in_call = False
            if self.unsent or self.unread:
                self.settle()
            if self.mark is not None:
                self.mark_prints()
            if message is None:
                self.write(GO_ON)
            else:
                self.send(message)

    def mark_prints(self):
        """Writes a mark to the output, and sends the number of the mark on the channel."""
        self.marked += 1
        try:
            os.write(2, b"\0%s printed %d\n" % (self.mark, self.marked))
        except OSError:
            return  # The script closed the descriptor, so there is no more output.
        self.send({"type": "printed", "mark": self.marked})


class Sim:
    """The argument of a script's functions: the state of the world, and the actions."""

    def __init__(self, channel):
        self._channel = channel
        self._finished = False

    def __getattr__(self, name):
        if name != "random":
            raise AttributeError(f"sim has no {name}{new_spelling(name)}")
        from random import Random

        self.random = Random(self.seed)
        return self.random

    def _act(self, action, **fields):
        message = {"type": "act", "action": action}
        for name, value in fields.items():
            if value is not None:
                message[name] = plain(value, f"{action}: {name}", MAX_LINE // 2, numbers=True)
        line = encode_plain(message, action)
        if len(line) >= MAX_LINE:
            raise SimError(f"{action}: the values have more than {MAX_LINE} bytes as JSON")
        self._channel.ask(line + b"\n")

    def teleport(self, *place, **motion):
        """Moves the car at once, in `duration` seconds, or along `path`.

        The new pose is given as x, y, yaw or as a mapping.
        """
        self._act("teleport", **pose(("x", "y", "yaw"), place, motion))

    def move_object(self, name, *place, **motion):
        """Moves an object at once, in `duration` seconds, or along `path`.

        The new pose is given as x, y, z, yaw or as a mapping.
        """
        self._act("move_object", name=name, **pose(POSE, place, motion))

    def set_light(self, name, state):
        """Switches a traffic light to "red" or "green"."""
        self._act("set_light", name=name, state=state)

    def overlay(self, text, secs=10, size=1):
        """Shows a text in every viewer."""
        self._act("overlay", text=text, secs=secs, size=size)

    def set_brightness(self, value):
        """Sets the brightness of all camera pictures."""
        self._act("set_brightness", value=value)

    def pause(self, paused=True):
        """Pauses or continues simulated time."""
        try:
            paused = bool(paused)
        except Exception as error:
            raise SimError(f"pause: {name_of(error)}") from None
        self._act("pause", paused=paused)

    def record(self, value):
        """Sets the record. The last record of a session counts."""
        if type(value) is float and math.isfinite(value):
            line = repr(value).encode()  # A fast path, because most records are a float.
        else:
            line = check_record(value)
        self._channel.say(b'{"type":"record","value":%s}\n' % line)

    def finish(self, *value):
        """Ends the session when the script's function returns. If a value is given, records it."""
        if len(value) > 1:
            raise TypeError("finish takes one value or none")
        for one in value:
            self.record(one)
        self._finished = True


# Names that other simulators have for actions, in lower case and without underscores, and the name
# of the same action here.
OTHER_NAMES = {
    "setpose": "teleport",
    "moveto": "teleport",
    "setobjectpose": "move_object",
    "settrafficlight": "set_light",
    "setoverlay": "overlay",
    "showtext": "overlay",
    "setpaused": "pause",
    "setrecord": "record",
    "end": "finish",
    "stop": "finish",
}


def new_spelling(name):
    """The end of an error text that names the action which a script probably means."""
    written = name.replace("_", "").lower()
    own = {known.replace("_", ""): known for known in vars(Sim) if not known.startswith("_")}
    known = own.get(written) or OTHER_NAMES.get(written)
    return "" if known is None else f"; write sim.{known}"


def pose(names, place, fields):
    """The fields of a pose command, from positional arguments, a mapping or keywords."""
    if len(place) == 1 and isinstance(place[0], dict):
        given = place[0]
        fields = {**{name: given[name] for name in (*names, *MOTION) if name in given}, **fields}
        if "path" not in fields:  # The `speed` of an observed pose is not that of a motion.
            fields.pop("speed", None)
    elif len(place) > len(names):
        raise TypeError(f"at most {len(names)} numbers: {', '.join(names)}")
    else:
        for name, value in zip(names, place, strict=False):
            if name in fields:
                raise TypeError(f"{name} is given twice")
            fields[name] = value
    for name in fields:
        if name not in POSE and name not in MOTION:
            raise TypeError(f"{name} is not one of {', '.join((*names, *MOTION))}")
    return fields


def name_of(error):
    """The name of an exception's type.

    The text of the exception is not used, because a script may define how it is computed, and the
    computation may fail.
    """
    return type(error).__name__


def plain(value, what, room, numbers=False):
    """A copy of a value that consists of plain JSON types. Raises SimError if that is not possible.

    The copy is needed because a subclass of a plain type can look different at every access. `what`
    names the value in the error, `room` limits the number of items, and `numbers` allows objects of
    other libraries that can be converted to float.
    """

    def copy(item, depth):
        nonlocal room
        room -= 1
        if item is None or item is True or item is False:
            return item
        if depth > MAX_DEPTH or room < 0:
            raise SimError(f"{what}: it is nested too deeply, or has too many items")
        if isinstance(item, str):
            return str.__str__(item)
        if isinstance(item, int):
            item = int.__int__(item)
            if not -MAX_WHOLE <= item < MAX_WHOLE:
                raise SimError(f"{what}: a whole number is out of range")
            return item
        if isinstance(item, float):
            return finite(float.__float__(item))
        if isinstance(item, dict):
            pairs = list(dict.items(item))
            if not all(isinstance(key, str) for key, _ in pairs):
                raise SimError(f"{what}: the keys of a mapping are strings")
            return {str.__str__(key): copy(inner, depth + 1) for key, inner in pairs}
        if isinstance(item, list):
            return [copy(inner, depth + 1) for inner in list.__iter__(item)]
        if isinstance(item, tuple):
            return [copy(inner, depth + 1) for inner in tuple.__iter__(item)]
        if numbers and hasattr(item, "__float__"):
            return finite(float(item))
        raise SimError(f"{what}: {type(item).__name__} is not JSON")

    def finite(number):
        if not math.isfinite(number):
            raise SimError(f"{what}: {number} is not a finite number")
        return number

    try:
        return copy(value, 0)
    except SimError:
        raise
    except Exception as error:
        # The script's own code raised this, for instance a property or `__float__`.
        raise SimError(f"{what}: {name_of(error)} while it was read") from None


def encode_plain(value, what):
    """Encodes a plain copy. Raises SimError if a string is not Unicode."""
    try:
        return encode(value)
    except UnicodeEncodeError:
        raise SimError(f"{what}: a string contains half of a surrogate pair") from None
    except RecursionError:
        raise SimError(f"{what}: the script is nested too deeply to send it") from None


def check_record(value):
    """Encodes a record as JSON. Raises SimError if the record is not allowed."""
    wrong = "record takes a finite number, or a JSON value of at most 16 KiB"
    line = encode_plain(plain(value, wrong, MAX_RECORD // 2), wrong)
    if len(line) > MAX_RECORD:
        raise SimError(f"{wrong}; this one has {len(line)} bytes")
    return line


class Judge:
    """A script, and the last known state of the world."""

    def __init__(self, channel):
        self.channel = channel
        self.sim = Sim(channel)
        self.module = None
        self.script = ""
        # The names of all objects, and their last known poses. Scripts get copies.
        self.names = []
        self.poses = []

    def load(self, call):
        sim = self.sim
        sim.config, sim.track, sim.objects = call.config, call.track, call.objects
        sim.route = call.track.waypoints
        # Scripts put back every object in this mapping, so it must not contain walls.
        movable = ((name, thing) for name, thing in call.objects.items() if thing.movable)
        sim.origins = View((name, thing.origin) for name, thing in movable)
        sim.seed = call.seed
        sim.state = None
        self.module = type(sys)("evaluation")
        self.module.__file__ = SCRIPT
        self.module.SimError = SimError
        sys.modules["evaluation"] = self.module
        self.script = call.script
        code = compile(call.script, SCRIPT, "exec", dont_inherit=True)
        exec(code, self.module.__dict__)
        if not callable(getattr(self.module, "evaluate", None)):
            raise SimError("the script does not define evaluate(sim)")

    def initialize(self, call):
        self.observe(call)
        function = getattr(self.module, "initialize", None)
        if function is not None:
            function(self.sim)

    def evaluate(self, call):
        self.observe(call)
        self.module.evaluate(self.sim)

    def observe(self, call):
        if "names" in call:
            self.names = call["names"]
            self.poses = [None] * len(self.names)
        poses = self.poses
        for at, x, y, z, roll, pitch, yaw, qx, qy, qz, qw in ROW.iter_unpack(call["moved"]):
            q = (qx, qy, qz, qw)
            pose = {"x": x, "y": y, "z": z, "roll": roll, "pitch": pitch, "yaw": yaw, "q": q}
            poses[at] = pose
        state = call["state"]
        # All poses are copied, because a script may keep an observation and change it.
        state["objects"] = View(zip(self.names, map(Pose, poses), strict=True))
        for event in state["audio"]["events"]:
            if "data" in event:
                from binascii import a2b_base64

                event["data"] = a2b_base64(event["data"])
        self.sim.state = state

    def run(self, call):
        """Runs a call. Returns the message that ends the call, or None for an ordinary answer."""
        self.channel.in_call = True
        try:
            getattr(self, call.type)(call)
        except BaseException as error:
            return raised(error, self.script)
        finally:
            flush()
        if self.channel.mark is not None and is_full():
            return {"type": "raised", "kind": "files", "error": "no room is left"}
        return {"type": "answer", "finish": True} if self.sim._finished else None


def raised(error, script):
    """Prints the traceback. Returns a message that contains the last line of the traceback."""
    if error.__traceback__ is not None:
        # The first entries belong to this file, so they do not help the author of the script.
        entry = error.__traceback__
        while entry is not None and entry.tb_frame.f_code.co_filename == __file__:
            entry = entry.tb_next
        error = error.with_traceback(entry)
    try:
        import linecache
        import traceback

        # The script is not a file. This cache entry lets the traceback show lines of the script.
        text = script.splitlines(keepends=True)
        linecache.cache[SCRIPT] = (len(script), None, text, SCRIPT)
        lines = traceback.format_exception(error)
        last = traceback.format_exception_only(error)[-1].strip()
    except BaseException:
        lines, last = [], type(error).__name__
    quietly(lambda: sys.stderr.write("".join(lines)))
    last = last.encode("utf-8", "replace").decode()[:500]
    kind = "exited" if isinstance(error, SystemExit) else "raised"
    if isinstance(error, MemoryError):
        kind = "memory"
    elif isinstance(error, OSError) and error.errno in (27, 28):  # file too large, disk full
        kind = "files"
    return {"type": "raised", "kind": kind, "error": last}


def flush():
    for name in ("stdout", "stderr"):
        quietly(lambda name=name: getattr(sys, name).flush())


def quietly(do):
    """Calls `do` and ignores errors, because a script may have closed or replaced any object."""
    try:  # noqa: SIM105
        do()
    except BaseException:
        pass


def check(call):
    """Checks a script without running it. Returns the error, or None if the script is valid."""
    import ast

    try:
        tree = ast.parse(call.script, SCRIPT)
        compile(call.script, SCRIPT, "exec", dont_inherit=True)
    except SyntaxError as error:
        return error.msg if error.lineno is None else f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return str(error) or type(error).__name__
    return None if defines_evaluate(tree) else "it does not define evaluate(sim)"


def defines_evaluate(tree):
    """Whether the top level binds the name `evaluate`, also inside statements such as if or try."""
    import ast

    pile = list(tree.body)
    while pile:
        node = pile.pop()
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
            if node.name == "evaluate" and not isinstance(node, ast.AsyncFunctionDef):
                return True
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if any((name.asname or name.name) in ("evaluate", "*") for name in node.names):
                return True
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = (name for target in targets for name in ast.walk(target))
            if any(isinstance(name, ast.Name) and name.id == "evaluate" for name in names):
                return True
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            pile.extend(getattr(node, part, ()))
    return False


def is_full():
    """Whether a file system that a script may write to is full."""
    for folder in ("/tmp", "/dev/shm"):
        try:
            room = os.statvfs(folder)
        except OSError:
            continue
        if room.f_blocks and room.f_bavail * room.f_frsize < 64 << 10:
            return True
    return False


def main(channel):
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")
    judge = Judge(channel)
    channel.send({"type": "ready", "version": VERSION})
    while True:
        call = channel.receive()
        if call.type == "check":
            channel.send({"type": "checked", "error": check(call)})
        else:
            channel.end_call(judge.run(call))


def first(name):
    """Runs as process 1 of a container: starts the script's process and reaps ended processes.

    Process 1 ends when the simulator closes the channel.
    """
    import fcntl
    import select

    if sys.version_info[:2] != PYTHON:
        version = ".".join(map(str, sys.version_info[:3]))
        sys.exit(f"the image has Python {version}, and scripts are for 3.14")
    # The channel gets descriptors from 200 on, so that a script cannot reach the channel through
    # descriptors 0 to 2.
    reading, writing = (fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 200) for number in (0, 1))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    child = os.fork()
    if child == 0:
        quietly(go_first)
        return main(Channel(reading, writing, name.encode()))
    os.close(writing)
    ended = os.pidfd_open(child)
    watch = select.poll()
    watch.register(reading, 0)  # Reports only that the simulator closed its end.
    watch.register(ended, select.POLLIN)
    code = None
    while True:
        happened = dict(watch.poll(100))
        if reading in happened:
            os._exit(0)  # The simulator is gone. The kernel ends all processes with process 1.
        pid = -1
        while code is None and pid != 0:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == child:
                code = os.waitstatus_to_exitcode(status)
                watch.unregister(ended)
                # Process 1 runs on, because the container would end with it. The simulator first
                # reads whether the processes of the container exceeded a limit, and then ends the
                # container.
                os.write(2, b"\0%s exited %d\n" % (name.encode(), code))


def go_first():
    """Makes the kernel kill this process first if memory runs out.

    Process 1 survives and reports how this process ended.
    """
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


if __name__ == "__main__":
    if sys.argv[1] == "engine":
        first(sys.argv[2])
    else:
        main(Channel(int(sys.argv[1])))
