"""The car as a URDF model for PyBullet: a chassis, two steering knuckles and four wheels.

The model has no visuals, because no contender draws its own car.
"""

from .scene import Car

_KNUCKLE_KG = 0.01


def _inertial(mass: float, inertia: tuple, at: tuple = (0, 0, 0)) -> str:
    x, y, z = inertia
    return (
        f'<inertial><origin xyz="{at[0]} {at[1]} {at[2]}"/><mass value="{mass}"/>'
        f'<inertia ixx="{x}" iyy="{y}" izz="{z}" ixy="0" ixz="0" iyz="0"/></inertial>'
    )


def _joint(name: str, kind: str, parent: str, at: tuple, axis: str) -> str:
    limit = (
        '<limit lower="-0.6" upper="0.6" effort="10" velocity="10"/>' if kind == "revolute" else ""
    )
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{name}"/>'
        f'<origin xyz="{at[0]} {at[1]} {at[2]}"/><axis xyz="{axis}"/>{limit}</joint>\n'
    )


def car(car: Car) -> str:
    """The model as XML, with the joints steer_left, front_left, steer_right, front_right,
    rear_left, rear_right in this order.
    """
    size, at = (" ".join(str(v) for v in t) for t in (car.body_size, car.body_centre))
    box = f'<origin xyz="{at}"/><geometry><box size="{size}"/></geometry>'
    base = _inertial(car.chassis_mass(), car.chassis_inertia(), car.centre_of_mass)
    out = f'<robot name="car"><link name="chassis">{base}<collision>{box}</collision></link>\n'
    r, w, m = car.wheel_radius, car.wheel_width, car.wheel_mass
    side_i = m * (3 * r * r + w * w) / 12
    # The axis of a URDF cylinder is z. The cylinder of a wheel is rotated, so that its axis is y,
    # the direction of the axle.
    shape = (
        f'<origin rpy="1.5707963 0 0"/><geometry><cylinder radius="{r}" length="{w}"/></geometry>'
    )
    body = _inertial(m, (side_i, m * r * r / 2, side_i)) + f"<collision>{shape}</collision>"
    knuckle = _inertial(_KNUCKLE_KG, (2e-6, 2e-6, 2e-6))
    for end, x in (("front", car.wheelbase / 2), ("rear", -car.wheelbase / 2)):
        for side, y in (("left", car.track / 2), ("right", -car.track / 2)):
            name, parent, place = f"{end}_{side}", "chassis", (x, y, r)
            if end == "front":
                out += f'<link name="steer_{side}">{knuckle}</link>\n'
                out += _joint(f"steer_{side}", "revolute", "chassis", place, "0 0 1")
                parent, place = f"steer_{side}", (0, 0, 0)
            out += f'<link name="{name}">{body}</link>\n' + _joint(
                name, "continuous", parent, place, "0 1 0"
            )
    return out + "</robot>\n"
