"""Lap time with penalties: one lap of the route, the lower the better.

The clock starts when the car first moves. The run ends when the front of the car crosses the start
line in driving direction after more than half of the route. Leaving the road and moving an object
cost a penalty each; the script then puts the car or the object back, and the run continues. If the
student's program fails, the run ends at once without a result. If the program has ended without an
error and the car stands still, the run ends without a result too.

To change the rules, change the numbers below. The harness calls `initialize` once before the run
and `evaluate` on every observation, 50 times per simulated second. Lengths are in metres, times in
simulated seconds. Printed text appears in the log of the evaluation.
"""

import math
from bisect import bisect

PENALTY = 5.0  # seconds for leaving the road and for moving an object
CLOCK_START = 0.03  # the clock starts when the car is farther than this from its start
OFF_TRACK_MARGIN = 0.12  # how far the car's centre may be outside the edge of the road
PUT_BACK_AHEAD = 0.30  # a car that left the road is put back this much farther along the route
OBJECT_MOVED = 0.01  # an object counts as moved if it is farther than this from its origin
OBJECT_LIFTED = 0.04  # an object also counts as moved if it is this much above or below its origin
OBJECT_REARM = 1.0  # seconds for which a moved object cannot cost another penalty
GIVE_UP_AFTER = 5.0  # seconds of standing still until the run ends, once the program has ended
STANDING_STILL = 0.005  # a car that moves less than this stands still
FRONT = 0.135  # distance from the car's centre to its front bumper
HALF_ROAD = 0.25  # half the width of the road, for routes without borders
TOP_SPEED = 5.0  # m/s; a car that moved faster between two observations was teleported
JITTER = 0.01  # added to the farthest that a car can drive; a car that moved more was teleported
MAX_STEP = 0.30  # more progress than this between two observations is a shortcut
NEAR_CAR = 0.30  # a car put back closer than this to an object may push it without a penalty


def initialize(sim):
    """Measures the track and sets all counters to their start values."""
    borders = [getattr(sim.track, name, None) for name in ("inner", "outer")]
    sim.centre = segments(sim.track.waypoints)
    sim.borders = [segments(points) for points in borders] if all(borders) else []
    sim.length = sum(segment[-1] for segment in sim.centre)
    sim.line = start_line(sim)
    sim.movable = [name for name in sim.objects if sim.objects[name].movable]
    sim.rearm_at = {}  # object name -> time from which it can cost a penalty again
    sim.last = None  # position of the car at the last observation, see `locate`
    sim.progress = 0.0  # metres driven along the route; driving back reduces it
    sim.penalties = 0.0
    sim.clock_start = None
    sim.off_track = False


def evaluate(sim):
    """Judges one observation."""
    pose = sim.state.pose
    here = locate(sim, pose)
    if sim.last is None:
        sim.start = sim.last = sim.still = here
    reason = why_no_result(sim, here)
    if reason is not None:
        print(f"{here['time']:.2f} s: {reason}, so there is no result")
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


def why_no_result(sim, here):
    """Why the run ends without a result, or None if it goes on."""
    code = sim.state.run.exit_code
    ended = not sim.state.run.running and code is not None
    if ended and code > 0:
        return f"the program ended with exit status {code}"
    if ended and code < 0:
        return f"the program was ended by signal {-code}"
    if not ended or math.dist(here["centre"], sim.still["centre"]) > STANDING_STILL:
        sim.still = here
    if here["time"] - sim.still["time"] >= GIVE_UP_AFTER:
        return f"the program has ended, and the car has stood still for {GIVE_UP_AFTER:g} s"
    return None


def drives_a_lap(sim, here):
    """Adds the driven distance to the progress. Returns whether the car completed the lap."""
    passed = here["time"] - sim.last["time"]
    # A teleport leaves the car at rest, so its speed does not explain the distance. The factor 2
    # is for a car that slides sideways or turns, which moves farther than its speed says.
    speed = min(TOP_SPEED, 2 * max(here["speed"], sim.last["speed"]))
    reach = speed * passed + JITTER
    if max(math.dist(here[point], sim.last[point]) for point in ("centre", "front")) > reach:
        return False  # A teleported car makes no progress and cannot cross the line.
    # The step is taken in the shorter direction along the loop, so it is small at waypoint 0 too.
    step = (here["along"] - sim.last["along"] + sim.length / 2) % sim.length - sim.length / 2
    # If the car takes a shortcut, the nearest point of the route jumps. The skipped distance does
    # not count.
    if abs(step) <= MAX_STEP:
        sim.progress += step
    if not crosses_forward(sim.line, sim.last["front"], here["front"]):
        return False
    if sim.progress > sim.length / 2:
        return True
    # The car crossed the line at the start, or by a shortcut. The lap begins at this crossing.
    sim.progress = 0.0
    return False


def judge_road(sim, here):
    """Puts the car back on the centre line if it left the road, and adds one penalty."""
    # `half_road` is slow, so it is only called for a car that is not near the centre line.
    limit = OFF_TRACK_MARGIN
    if here["offset"] > limit:
        limit += half_road(sim, here["along"])
    if here["offset"] <= limit:
        sim.off_track = False
        return
    ahead = PUT_BACK_AHEAD
    if sim.progress > sim.length / 2:
        # The car has to cross the line itself, so its front is put back at least 5 cm before it.
        ahead = min(ahead, sim.length - here["along"] - FRONT - 0.05)
    if not sim.off_track:
        penalise(sim, "the car left the road")
        sim.progress += ahead  # This distance counts as driven, because it cost a penalty.
    sim.off_track = True  # No second penalty until the car is on the road again.
    x, y, yaw = point_at(sim, here["along"] + ahead)
    sim.teleport(x=x, y=y, yaw=yaw)
    for name in sim.movable:
        thing = sim.state.objects[name]
        if math.dist((x, y), (thing.x, thing.y)) < NEAR_CAR:
            sim.rearm_at[name] = here["time"] + OBJECT_REARM


def judge_objects(sim):
    """Puts moved objects back at their origins, and adds one penalty for each."""
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
        # If `rearm_at` is a time, the object was moved during `OBJECT_REARM`, often by a car that
        # stands at the object's origin. Then the object is put back without a penalty.
        sim.move_object(name, x=origin.x, y=origin.y, z=origin.z, yaw=origin.yaw)


def penalise(sim, why):
    """Adds a penalty to the result and a line to the log."""
    sim.penalties += PENALTY
    print(f"{sim.state.time:.2f} s: {why}, +{PENALTY:g} s")


# Geometry


def locate(sim, pose):
    """The time, and the position of the car in the world and along the route."""
    last = 0.0 if sim.last is None else sim.last["along"]
    offset, along = nearest(sim.centre, pose.x, pose.y, last / sim.length)
    front = (pose.x + FRONT * math.cos(pose.yaw), pose.y + FRONT * math.sin(pose.yaw))
    return {
        "time": sim.state.time,
        "centre": (pose.x, pose.y),
        "front": front,
        "along": along,  # metres from waypoint 0 along the route
        "offset": offset,  # metres from the centre line
        "speed": abs(pose.speed),
    }


def segments(points):
    """The segments of a closed line, each as a tuple: metres of line before the segment, start x
    and y, direction x and y, length.
    """
    pieces, along = [], 0.0
    for a, b in zip(points, [*points[1:], points[0]], strict=True):
        length = math.dist(a, b)
        if length > 0:  # The length is 0 if the last point repeats the first.
            direction = ((b[0] - a[0]) / length, (b[1] - a[1]) / length)
            pieces.append((along, a[0], a[1], *direction, length))
            along += length
    return pieces


def nearest(line, x, y, part):
    """The distance of a point from a line, and the metres along the line to the nearest point.

    `part`, from 0 to 1, is a place on the line that is probably near the point. A good guess makes
    the search faster, and a bad guess gives the same result.
    """
    guess = line[int(part * len(line)) % len(line)]
    bound = math.dist((x, y), guess[1:3])  # The distance to the line is at most this.
    least, along, i = math.inf, 0.0, 0
    while i < len(line):
        before, ax, ay, dx, dy, length = line[i]
        t = (x - ax) * dx + (y - ay) * dy
        t = 0.0 if t < 0.0 else length if t > length else t
        square = (ax + t * dx - x) ** 2 + (ay + t * dy - y) ** 2
        if square < least:
            least, along = square, before + t
            bound = min(bound, math.sqrt(square))
        # Along one metre of the line, the distance to the point decreases by at most one metre. The
        # segments up to `skip_to` are therefore not nearer than `bound`. The millimetre is for
        # rounding errors.
        skip_to = before + t + math.sqrt(square) - bound - 0.001
        i = max(i + 1, bisect(line, (skip_to,), i) - 1)
    return math.sqrt(least), along


def point_at(sim, along):
    """x, y and heading of the route, `along` metres from waypoint 0."""
    along %= sim.length
    before, x, y, dx, dy, _ = max(piece for piece in sim.centre if piece[0] <= along)
    return x + (along - before) * dx, y + (along - before) * dy, math.atan2(dy, dx)


def half_road(sim, along):
    """Half the width of the road at `along`. The borders may have different points."""
    if not sim.borders:
        return HALF_ROAD
    x, y, _ = point_at(sim, along)
    return sum(nearest(border, x, y, along / sim.length)[0] for border in sim.borders) / 2


def start_line(sim):
    """Both ends of the start line, and its normal, which points along the route."""
    _, x, y, dx, dy, _ = sim.centre[0]
    if sim.borders:
        a, b = (border[0][1:3] for border in sim.borders)
    else:
        a, b = ((x - side * dy, y + side * dx) for side in (HALF_ROAD, -HALF_ROAD))
    across_x, across_y = b[0] - a[0], b[1] - a[1]
    sign = math.copysign(1.0, dy * across_x - dx * across_y)
    return a, b, (-sign * across_y, sign * across_x)


def crosses_forward(line, old, new):
    """Whether the segment from `old` to `new` crosses the line in driving direction."""
    (ax, ay), (bx, by), (nx, ny) = line
    before = (old[0] - ax) * nx + (old[1] - ay) * ny
    after = (new[0] - ax) * nx + (new[1] - ay) * ny
    if not before < 0 <= after:
        return False
    part = before / (before - after)
    x, y = old[0] + part * (new[0] - old[0]), old[1] + part * (new[1] - old[1])
    # If the intersection is beyond an end of the line, the car passed beside the line.
    return 0 <= (x - ax) * (bx - ax) + (y - ay) * (by - ay) <= (bx - ax) ** 2 + (by - ay) ** 2
