"""Training environments inside the Python process. Use `chicane.gym`, which is built on it."""

from typing import Any, final

from numpy.typing import NDArray

NUMBERS: list[str]
"""Names of the rows of the array `numbers`."""
ENDS: list[str]
"""Reasons why an episode ended. The row `ended` has their indices."""
__version__: str

def worlds() -> list[str]:
    """Returns the names of the built-in worlds."""

def knows(world: str) -> bool:
    """Whether `Batch` can load a world: a built-in one, or a folder with a world."""

def atan2(y: float, x: float, /) -> float:
    """The angle of a vector, with the same bits on every machine."""

def sin(angle: float, /) -> float:
    """The sine of an angle, with the same bits on every machine."""

def cos(angle: float, /) -> float:
    """The cosine of an angle, with the same bits on every machine."""

_Array = NDArray[Any] | None
_Thing = tuple[str, str, list[float], list[float], bool, bool]

@final
class Batch:
    """A batch of environments. Arrays of observations that are not observed are None."""

    def __init__(self, num_envs: int, threads: int, **settings: Any) -> None: ...
    def about(self) -> dict[str, Any]:
        """Shapes of the observations and limits of the car, by name."""

    def seed(self, car: int, generator: bytes) -> None:
        """Sets the generator of one environment: state and increment of a PCG64, 16 bytes each."""

    def generator(self, car: int) -> bytes | None:
        """The generator of one environment, as `seed` takes it; None before it was set."""

    def reset(
        self, start: float | None, state: _Array, lidar: _Array, camera: _Array, numbers: _Array
    ) -> None:
        """Starts new episodes, and fills the arrays."""

    def step(
        self, actions: NDArray[Any], state: _Array, lidar: _Array, camera: _Array, numbers: _Array
    ) -> None:
        """Steps all environments, and fills the arrays."""

    def observe(self, state: _Array, lidar: _Array, camera: _Array, numbers: _Array) -> None:
        """Fills the arrays with the current observations."""

    def details(
        self, car: int
    ) -> tuple[list[_Thing], list[str], list[tuple[str, str]], list[list[float]]]:
        """Objects, touched objects, lights and waypoints of one environment."""

    def draw(self, car: int, view: str, size: tuple[int, int], picture: NDArray[Any]) -> None:
        """Draws one environment into an array of height, width and 3 channels."""

    def save(self, car: int) -> bytes:
        """Saves one environment."""

    def restore(self, car: int, bytes: bytes) -> None:
        """Restores one environment from the bytes of `save`."""

    def close(self) -> None:
        """Frees the environments. Further calls raise `RuntimeError`.

        Raises `RuntimeError` while another thread uses the environments.
        """
