"""A judging script that uses all commands which change the world, except those to lights."""

calls = 0


def initialize(sim):
    print("starts at", sim.state.pose)


def evaluate(sim):
    global calls
    calls += 1
    if calls == 3:
        sim.overlay("go", secs=2)
        sim.set_brightness(0.8)
    if calls == 5:
        for name in [*sorted(sim.state.objects)[:2], "nobody", "vehicle"]:
            try:
                sim.move_object(name, x=1.0, y=-0.5)
                print("moved", name)
            except Exception as error:
                print("refused", error)
    if calls == 8:
        sim.pause()
    if calls == 12:
        sim.pause(False)
        sim.teleport(x=1.5, y=1.2, yaw=0.3)
    sim.record(round(sim.state.pose.x, 6))
    if calls >= 80:
        sim.finish()
