"""The scene as a MuJoCo model. The car is a chassis with four hinged wheels and rear-wheel drive.

The geoms of the car are in a group that is not drawn, because no contender draws its own car.
"""

import math

from . import scene
from .scene import Car


def _numbers(values: tuple) -> str:
    return " ".join(str(v) for v in values)


def _wheels(car: Car) -> tuple:
    """Returns the XML of the wheel bodies and the XML of the actuators.

    The order of the actuators is: steer left, steer right, drive rear left, drive rear right.
    """
    bodies, steering, driving = "", "", ""
    shape = f'type="cylinder" size="{car.wheel_radius} {car.wheel_width / 2}" zaxis="0 1 0"'
    geom = (
        f'<geom {shape} mass="{car.wheel_mass}" friction="{car.friction} 0.005 0.0001" group="4"/>'
    )
    for end, x in (("front", car.wheelbase / 2), ("rear", -car.wheelbase / 2)):
        for side, y in (("left", car.track / 2), ("right", -car.track / 2)):
            name = f"{end}_{side}"
            spin = f'<joint name="{name}" type="hinge" axis="0 1 0"/>'
            if end == "front":
                spin = (
                    f'<joint name="steer_{side}" type="hinge" axis="0 0 1" '
                    'range="-0.6 0.6" limited="true" '
                    f'damping="0.02" armature="0.0005"/>{spin}'
                )
                steering += f'<position joint="steer_{side}" kp="20"/>'
            else:
                driving += f'<velocity joint="{name}" kv="0.02"/>'
            bodies += f'<body name="{name}" pos="{x} {y} {car.wheel_radius}">{spin}{geom}</body>\n'
    return bodies, steering + driving


def model(car: Car, boxes: list, sleeping: bool, picture: str, largest: tuple) -> str:
    """The model as XML. `largest` is the width and height of the largest picture in pixels."""
    wheels, actuators = _wheels(car)
    half = tuple(s / 2 for s in car.body_size)
    chassis = (
        f'<inertial pos="{_numbers(car.centre_of_mass)}" mass="{car.chassis_mass()}" '
        f'diaginertia="{_numbers(car.chassis_inertia())}"/>'
        f'<geom type="box" size="{_numbers(half)}" pos="{_numbers(car.body_centre)}" group="4"/>'
    )
    cameras = "".join(
        f'<camera name="c{w}x{h}" pos="{_numbers(car.camera_at)}" xyaxes="0 -1 0 0 0 1" '
        f'fovy="{math.degrees(car.vertical_fov(w, h))}"/>'
        for w, h in ((160, 120), (320, 240), (480, 360))
    )
    fence = "".join(
        f'<geom type="box" pos="{_numbers(at)}" size="{_numbers(tuple(s / 2 for s in size))}" '
        f'rgba="{_numbers(scene.FENCE_COLOUR)} 1"/>\n'
        for at, size in scene.walls()
    )
    side = scene.BOX_SIDE_M / 2
    things = "".join(
        f'<body pos="{b.x} {b.y} {b.z}" euler="0 0 {b.yaw}"><freejoint/>'
        f'<geom type="box" size="{side} {side} {side}" mass="{scene.BOX_MASS_KG}" '
        f'rgba="{_numbers(scene.BOX_COLOUR)} 1"/></body>\n'
        for b in boxes
    )
    floor = f"{scene.HALF_YARD_M} {scene.HALF_YARD_M} 0.1"
    sleep = "enable" if sleeping else "disable"
    return f"""<mujoco model="yard">
<compiler angle="radian"/>
<option timestep="{scene.SUBSTEP_S}" integrator="implicitfast"><flag sleep="{sleep}"/></option>
<visual>
<global offwidth="{largest[0]}" offheight="{largest[1]}"/>
<quality offsamples="0"/><map znear="0.002"/>
</visual>
<asset>
<texture name="floor" type="2d" file="{picture}"/>
<material name="floor" texture="floor" texrepeat="1 1"/>
<texture type="skybox" builtin="gradient" rgb1="0.6 0.75 0.95" rgb2="0.3 0.5 0.8"
 width="64" height="64"/>
</asset>
<default><geom friction="{scene.FRICTION} 0.005 0.0001"/></default>
<worldbody>
<light directional="true" pos="0 0 10" dir="-0.3 0.2 -0.9"/>
<geom type="plane" size="{floor}" material="floor"/>
{fence}<body name="car"><freejoint/>{chassis}{cameras}
{wheels}</body>
{things}</worldbody>
<actuator>{actuators}</actuator>
</mujoco>
"""
