"""Lap time with penalties: one lap of the route, the lower the better.

The clock starts when the car first moves. The run ends when the front of the car crosses the start
line in driving direction with more than half of the route behind it. Leaving the road and moving an
object cost a penalty each; the car or the object is put back and the run goes on. A run whose
program has ended and whose car stands still has no result.

To change the rules, change the numbers below. `initialize` is called once before the run and
`evaluate` on every observation, 50 times per simulated second. Lengths are metres, times are
seconds of simulation time. What is printed here appears in the log of the evaluation.
"""

import math

PENALTY = 5.0  # for leaving the road and for moving an object
CLOCK_START = 0.03  # the clock starts when the car is farther than this from where it stood
OFF_TRACK_MARGIN = 0.12  # how far the car's centre may be outside the edge of the road
PUT_BACK_AHEAD = 0.30  # a car that left the road goes on this much farther along the route
OBJECT_MOVED = 0.01  # an object counts as moved when it is farther than this from its place,
OBJECT_LIFTED = 0.04  # or this much above or below it
OBJECT_REARM = 1.0  # a moved object can't cost another penalty for this long
GIVE_UP_AFTER = 5.0  # standing still for this long after the program ended ends the run,
STANDING_STILL = 0.005  # and this much movement is not standing still
FRONT = 0.135  # from the car's centre to its front bumper
HALF_ROAD = 0.25  # for routes that come without borders
TOP_SPEED = 5.0  # no car drives faster (m/s): whatever moves faster was carried
MAX_STEP = 0.30  # more route than this between two observations is a shortcut, not driving
NEAR_CAR = 0.30  # a car that is put back this near to an object may have to push it aside


def initialize(sim):
    """Measures the track, and sets everything that is counted to its beginning."""
    borders = [getattr(sim.track, name, None) for name in ("inner", "outer")]
    sim.centre = segments(sim.track.waypoints)
    sim.borders = [segments(points) for points in borders] if all(borders) else []
    sim.length = sum(segment[-1] for segment in sim.centre)
    sim.line = start_line(sim)
    sim.movable = [name for name in sim.objects if sim.objects[name].movable]
    sim.rearm_at = {}  # object name -> when it counts again
    sim.last = None  # where the car was at the last observation
    sim.progress = 0.0  # metres of route covered, less what was driven back
    sim.penalties = 0.0
    sim.clock_start = None
    sim.off_track = False


def evaluate(sim):
    """Judges one observation."""
    pose = sim.state.pose
    here = place(sim, pose)
    if sim.last is None:
        sim.start = sim.last = sim.still = here
    if has_given_up(sim, here):
        sim.record(None)
        sim.finish()
        return
    if sim.clock_start is None and math.dist(here["centre"], sim.start["centre"]) > CLOCK_START:
        sim.clock_start = here["time"]
    judge_objects(sim)
    lap = drives_a_lap(sim, here)
    sim.last = here
    if not lap:
        judge_road(sim, here)
    if sim.clock_start is not None:
        sim.record(round(here["time"] - sim.clock_start + sim.penalties, 3))
    if lap:
        sim.finish()


# The rules


def has_given_up(sim, here):
    """Whether nothing more will come: the program has ended, and since then the car stood."""
    ended = not sim.state.run.running and sim.state.run.exit_code is not None
    if not ended or math.dist(here["centre"], sim.still["centre"]) > STANDING_STILL:
        sim.still = here
    return here["time"] - sim.still["time"] >= GIVE_UP_AFTER


def drives_a_lap(sim, here):
    """Adds to the progress what the car drove; tells whether it completed a lap by that."""
    reach = TOP_SPEED * (here["time"] - sim.last["time"])
    if max(math.dist(here[point], sim.last[point]) for point in ("centre", "front")) > reach:
        return False  # Carried, not driven: neither the way nor the line counts.
    # The shorter way round, so that passing waypoint 0 is a small step like any other.
    step = (here["along"] - sim.last["along"] + sim.length / 2) % sim.length - sim.length / 2
    # On a shortcut the nearest part of the route changes at once. That way was not driven.
    if abs(step) <= MAX_STEP:
        sim.progress += step
    if not crosses_forward(sim.line, sim.last["front"], here["front"]):
        return False
    if sim.progress > sim.length / 2:
        return True
    # The start, or a shortcut to the line: the lap begins here.
    sim.progress = 0.0
    return False


def judge_road(sim, here):
    """Puts a car that left the road back on the centre line, for one penalty."""
    # Measuring the road is slow, and next to the centre line there is no need to.
    limit = OFF_TRACK_MARGIN
    if here["offset"] > limit:
        limit += half_road(sim, here["along"])
    if here["offset"] <= limit:
        sim.off_track = False
        return
    ahead = PUT_BACK_AHEAD
    if sim.progress > sim.length / 2:
        # Not past the line, which the car has to cross itself: 5 cm before it, as at the start.
        ahead = min(ahead, sim.length - here["along"] - FRONT - 0.05)
    if not sim.off_track:
        penalise(sim, "the car left the road")
        sim.progress += ahead  # This way is paid for: it counts, though the car is carried.
    sim.off_track = True  # No second penalty before the car was seen on the road again.
    x, y, yaw = point_at(sim, here["along"] + ahead)
    sim.teleport(x=x, y=y, yaw=yaw)
    for name in sim.movable:
        thing = sim.state.objects[name]
        if math.dist((x, y), (thing.x, thing.y)) < NEAR_CAR:
            sim.rearm_at[name] = here["time"] + OBJECT_REARM


def judge_objects(sim):
    """Puts moved objects back where they belong, for one penalty each."""
    for name in sim.movable:
        now, rearm_at = sim.state.time, sim.rearm_at.get(name)
        if rearm_at is not None and now < rearm_at:
            continue
        sim.rearm_at[name] = None
        thing, origin = sim.state.objects[name], sim.origins[name]
        moved = math.dist((thing.x, thing.y), (origin.x, origin.y)) > OBJECT_MOVED
        if not moved and abs(thing.z - origin.z) <= OBJECT_LIFTED:
            continue
        if rearm_at is None:
            penalise(sim, f"{name} was moved")
            sim.rearm_at[name] = now + OBJECT_REARM
        # Else it was moved while it did not count, often by a car that stood in its place.
        sim.move_object(name, x=origin.x, y=origin.y, z=origin.z, yaw=origin.yaw)


def penalise(sim, why):
    """Adds a penalty to the result and a line to the log."""
    sim.penalties += PENALTY
    print(f"{sim.state.time:.2f} s: {why}, +{PENALTY:g} s")


# Geometry


def place(sim, pose):
    """What the rules need to know about where the car is now."""
    offset, along = nearest(sim.centre, pose.x, pose.y)
    front = (pose.x + FRONT * math.cos(pose.yaw), pose.y + FRONT * math.sin(pose.yaw))
    return {
        "time": sim.state.time,
        "centre": (pose.x, pose.y),
        "front": front,
        "along": along,  # metres from waypoint 0 along the route
        "offset": offset,  # metres from the centre line
    }


def segments(points):
    """The pieces of a closed line: metres before it, start x and y, direction x and y, length."""
    pieces, along = [], 0.0
    for a, b in zip(points, [*points[1:], points[0]], strict=True):
        length = math.dist(a, b)
        if length > 0:  # The last point often repeats the first.
            direction = ((b[0] - a[0]) / length, (b[1] - a[1]) / length)
            pieces.append((along, a[0], a[1], *direction, length))
            along += length
    return pieces


def nearest(line, x, y):
    """How far a point is from a line, and how far along the line the nearest place is."""
    least, along = math.inf, 0.0
    for before, ax, ay, dx, dy, length in line:
        t = (x - ax) * dx + (y - ay) * dy
        t = 0.0 if t < 0.0 else length if t > length else t
        square = (ax + t * dx - x) ** 2 + (ay + t * dy - y) ** 2
        if square < least:
            least, along = square, before + t
    return math.sqrt(least), along


def point_at(sim, along):
    """The point of the route that many metres from waypoint 0, and the heading there."""
    along %= sim.length
    before, x, y, dx, dy, _ = max(piece for piece in sim.centre if piece[0] <= along)
    return x + (along - before) * dx, y + (along - before) * dy, math.atan2(dy, dx)


def half_road(sim, along):
    """Half the width of the road. Borders are measured as lines: their points need not pair up."""
    if not sim.borders:
        return HALF_ROAD
    x, y, _ = point_at(sim, along)
    return sum(nearest(border, x, y)[0] for border in sim.borders) / 2


def start_line(sim):
    """Both ends of the line, and a direction square to it that points along the route."""
    _, x, y, dx, dy, _ = sim.centre[0]
    if sim.borders:
        a, b = (border[0][1:3] for border in sim.borders)
    else:
        a, b = ((x - side * dy, y + side * dx) for side in (HALF_ROAD, -HALF_ROAD))
    across_x, across_y = b[0] - a[0], b[1] - a[1]
    sign = math.copysign(1.0, dy * across_x - dx * across_y)
    return a, b, (-sign * across_y, sign * across_x)


def crosses_forward(line, old, new):
    """Whether the way from an old to a new point crosses the line in driving direction."""
    (ax, ay), (bx, by), (nx, ny) = line
    before = (old[0] - ax) * nx + (old[1] - ay) * ny
    after = (new[0] - ax) * nx + (new[1] - ay) * ny
    if not before < 0 <= after:
        return False
    part = before / (before - after)
    x, y = old[0] + part * (new[0] - old[0]), old[1] + part * (new[1] - old[1])
    # Beyond an end of the line the car passed beside it.
    return 0 <= (x - ax) * (bx - ax) + (y - ay) * (by - ay) <= (bx - ax) ** 2 + (by - ay) ** 2
