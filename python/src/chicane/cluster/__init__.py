"""Grading and training on a Ray cluster. Needs `pip install chicane[ray]`.

- `run_units` runs the units of a plan on all nodes. `chicane grade --ray` uses it.
- `rollouts` and `Fleet` drive episodes of the Gymnasium environments on all nodes.

Every node needs this package with the simulator's program, in the same version.
"""

from chicane.cluster.connect import ClusterError, connect
from chicane.cluster.rollouts import Episode, Fleet, rollouts
from chicane.cluster.units import Progress, run_units

__all__ = ["ClusterError", "Episode", "Fleet", "Progress", "connect", "rollouts", "run_units"]
