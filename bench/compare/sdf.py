"""The scene as an SDF world that Chicane imports."""

from . import scene
from .scene import Box


def _box(size: tuple) -> str:
    return f"<geometry><box><size>{size[0]} {size[1]} {size[2]}</size></box></geometry>"


def _colour(colour: tuple) -> str:
    r, g, b = colour
    return f"<material><ambient>{r} {g} {b} 1</ambient><diffuse>{r} {g} {b} 1</diffuse></material>"


def _friction() -> str:
    mu = scene.FRICTION
    return f"<surface><friction><ode><mu>{mu}</mu><mu2>{mu}</mu2></ode></friction></surface>"


def _wall(name: str, at: tuple, size: tuple) -> str:
    return (
        f'<model name="{name}"><static>true</static><pose>{at[0]} {at[1]} {at[2]} 0 0 0</pose>'
        f'<link name="wall"><collision name="collision">{_box(size)}{_friction()}</collision>'
        f'<visual name="visual">{_box(size)}{_colour(scene.FENCE_COLOUR)}</visual></link></model>\n'
    )


def _object(name: str, box: Box) -> str:
    side, mass = scene.BOX_SIDE_M, scene.BOX_MASS_KG
    i = mass * side * side / 6
    inertia = f"<inertia><ixx>{i}</ixx><iyy>{i}</iyy><izz>{i}</izz></inertia>"
    shape = _box((side, side, side))
    return (
        f'<model name="{name}"><pose>{box.x} {box.y} {box.z} 0 0 {box.yaw}</pose>'
        f'<link name="object"><inertial><mass>{mass}</mass>{inertia}</inertial>'
        f'<collision name="collision">{shape}{_friction()}</collision>'
        f'<visual name="visual">{shape}{_colour(scene.BOX_COLOUR)}</visual></link></model>\n'
    )


def floor_file(name: str) -> str:
    """Path of the floor's picture in the folder of the world."""
    return f"meshes/{name}/textures/floor.png"


def world(name: str, boxes: list) -> str:
    """The world file as XML."""
    size = f"{2 * scene.HALF_YARD_M} {2 * scene.HALF_YARD_M}"
    plane = f"<geometry><plane><normal>0 0 1</normal><size>{size}</size></plane></geometry>"
    picture = f"<pbr><metal><albedo_map>model://{floor_file(name)}</albedo_map></metal></pbr>"
    floor = (
        '<model name="racetrack"><static>true</static><link name="track">'
        f'<collision name="collision">{plane}{_friction()}</collision>'
        f'<visual name="visual">{plane}<material>{picture}</material></visual></link></model>\n'
    )
    fence = "".join(_wall(f"wall_{i}", at, size) for i, (at, size) in enumerate(scene.walls()))
    things = "".join(_object(f"box{i}", box) for i, box in enumerate(boxes))
    sun = "<include><uri>model://sun</uri></include>\n"
    inside = f'<world name="{name}">\n{sun}{floor}{fence}{things}</world>'
    return f'<?xml version="1.0"?>\n<sdf version="1.7">{inside}</sdf>\n'
