"""A judging script that uses every action of `sim` except `pause`, then finishes."""


def initialize(sim):
    sim.busy = 0
    sim.set_brightness(0.5 + sim.random.random())


def evaluate(sim):
    sim.busy += 1
    sim.record({"looks": sim.busy, "sounds": len(sim.state.audio.playing)})
    try:
        if sim.busy % 40 == 1:
            sim.set_light("signal1", "red")
        if sim.busy % 40 == 30:
            sim.set_light("signal1", "green")
    except SimError:  # noqa: F821 - the harness defines it
        print("the light is yellow")
    if sim.busy % 25 == 0:
        sim.move_object("box1", x=1 + sim.random.random(), y=1, duration=0.3)
        sim.overlay(f"look {sim.busy}", 2)
    if sim.busy % 60 == 0:
        sim.teleport(x=sim.track.waypoints[3][0], y=sim.track.waypoints[3][1])
    if sim.state.time > 4:
        sim.finish()
