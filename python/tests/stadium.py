"""A track and a fake simulator for tests of judging scripts. The tests set all poses."""

import contextlib
import io
import math
import runpy
from pathlib import Path

TEMPLATE = Path(__file__).parents[1] / "judge" / "templates" / "lap_time.py"
STEP = 0.02
HALF_ROAD = 0.25
START = -0.185  # position of the car's centre along the route: its front is 5 cm before the line


class View(dict):
    """A dictionary whose keys can also be read as attributes."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class Stadium:
    """A track of two straights of 4 m and two bends. It starts in the middle of a straight."""

    def __init__(self, clockwise=False, radius=1.0):
        self.clockwise = clockwise
        self.radius = radius
        self.length = 8 + 2 * math.pi * radius
        self.side = -1.0 if clockwise else 1.0  # side of the infield: 1 is left, -1 is right

    def place(self, along, inwards=0.0):
        """Returns x, y and heading of a place on the track.

        The place is `along` metres from the start in driving direction, and `inwards` metres from
        the centre line towards the infield.
        """
        along %= self.length
        bend = math.pi * self.radius
        if along < 2:
            x, y, turned = along, 0.0, 0.0
        elif along < 2 + bend:
            turned = (along - 2) / self.radius
            x, y = 2 + self.radius * math.sin(turned), self.radius * (1 - math.cos(turned))
        elif along < 6 + bend:
            x, y, turned = 2 - (along - 2 - bend), 2 * self.radius, math.pi
        elif along < 6 + 2 * bend:
            turned = (along - 6 - bend) / self.radius + math.pi
            x, y = -2 + self.radius * math.sin(turned), self.radius * (1 - math.cos(turned))
        else:
            x, y, turned = along - self.length, 0.0, 2 * math.pi
        x, y = x - inwards * math.sin(turned), y + inwards * math.cos(turned)
        # A clockwise track is mirrored. Every track is moved, so that all coordinates are positive.
        yaw = math.remainder(self.side * turned, math.tau)
        return 5 + x, 5 + self.side * y, yaw

    def line(self, inwards=0.0, rows=200, first=0.0):
        points = [
            list(self.place(first + self.length * i / rows, inwards)[:2]) for i in range(rows)
        ]
        return [*points, points[0]]

    def track(self):
        inner, outer = self.line(HALF_ROAD), self.line(-HALF_ROAD)
        return View(waypoints=self.line(), inner=inner, outer=outer, bounds=None)


class FakeSim:
    """A replacement for the harness's `sim` object. It executes and records all actions."""

    def __init__(self, track, pose, objects=()):
        self.track = track
        self.route = track.waypoints
        self.config = View(better="lower")
        self.objects = View()
        self.origins = View()
        self.records = []
        self.finished = 0
        self.teleports = []
        self.put_back = []
        self.teleport_works = True  # whether a teleport moves the car
        run = View(running=True, exit_code=None)
        self.state = View(time=0.0, pose=None, objects=View(), lights=View(), run=run, paused=False)
        self.set_pose(*pose)
        for name, kind, x, y in objects:
            origin = View(x=x, y=y, z=0.1, yaw=0.5)
            kind_type = kind if kind in ("light", "wall") else "object"
            self.objects[name] = View(
                type=kind_type, kind=kind, static=False, movable=kind != "wall", origin=origin
            )
            if kind != "wall":
                self.origins[name] = origin
            self.place_object(name, **origin)

    def set_pose(self, x, y, yaw, speed=0.0):
        self.state["pose"] = View(x=x, y=y, z=0.0, roll=0.0, pitch=0.0, yaw=yaw, speed=speed)

    def place_object(self, name, **values):
        zero = View(x=0.0, y=0.0, z=0.0, roll=0.0, pitch=0.0, yaw=0.0)
        self.state.objects[name] = View({**self.state.objects.get(name, zero), **values})

    def teleport(self, x, y, yaw):
        self.teleports.append((x, y, yaw))
        if self.teleport_works:
            self.set_pose(x, y, yaw)

    def move_object(self, name, x, y, z, yaw):
        self.put_back.append(name)
        self.place_object(name, x=x, y=y, z=z, yaw=yaw)

    def record(self, value):
        self.records.append(value)

    def finish(self):
        self.finished += 1


class Run:
    """A judged run. The test sets the pose of the car for each of 50 observations per second."""

    def __init__(self, stadium=None, objects=(), track=None, start=START):
        self.stadium = stadium or Stadium()
        self.script = runpy.run_path(str(TEMPLATE))
        self.sim = FakeSim(track or self.stadium.track(), self.stadium.place(start), objects)
        self.along = start
        self.log = io.StringIO()
        with contextlib.redirect_stdout(self.log):
            self.script["initialize"](self.sim)
        self.observe(0.0)

    def observe(self, passed=STEP):
        state = self.sim.state
        state["time"] = round(state.time + passed, 9)
        with contextlib.redirect_stdout(self.log):
            self.script["evaluate"](self.sim)

    def wait(self, seconds):
        for _ in range(round(seconds / STEP)):
            if not self.sim.finished:
                self.observe()

    def drive_to(self, along, speed=1.0, inwards=0.0):
        """Drives forwards or backwards along the route until it reaches `along` or the run ends."""
        step = math.copysign(speed * STEP, along - self.along)
        while not self.sim.finished and abs(along - self.along) > 1e-9:
            left = along - self.along
            self.along += step if abs(step) < abs(left) else left
            self.sim.set_pose(*self.stadium.place(self.along, inwards), speed=speed)
            self.observe()

    def drive_straight(self, x, y, speed=1.0):
        """Drives in a straight line until it reaches (x, y) or the run ends."""
        pose = self.sim.state.pose
        x0, y0 = pose.x, pose.y
        yaw = math.atan2(y - y0, x - x0)
        steps = math.ceil(math.hypot(x - x0, y - y0) / (speed * STEP))
        for i in range(1, steps + 1):
            if self.sim.finished:
                return
            place = (x0 + (x - x0) * i / steps, y0 + (y - y0) * i / steps, yaw)
            self.sim.set_pose(*place, speed=speed)
            self.observe()

    def carry_to(self, along, inwards=0.0):
        """Moves the car between two observations, as a teleport does."""
        self.along = along
        self.sim.set_pose(*self.stadium.place(along, inwards))
        self.observe()

    @property
    def record(self):
        return self.sim.records[-1]

    @property
    def penalties(self):
        return self.sim.penalties
