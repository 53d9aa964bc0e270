"""Runs the units of a plan on a Ray cluster, for `chicane grade --ray`.

Prints one line of JSON for each unit that ends. The exit status is 0, or 1 with a message, or 130
after Ctrl-C.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from chicane.cluster.connect import ClusterError
from chicane.cluster.units import Progress, run_units


def main() -> None:
    """Runs the units of the plan that the arguments name."""
    parser = argparse.ArgumentParser(prog="python -m chicane.cluster", description=__doc__)
    parser.add_argument("results", help="folder of chicane grade")
    parser.add_argument("--address", default="auto", help="auto, or the address of a cluster")
    parser.add_argument("--limit-s", type=float, default=3600.0, help="longest time of a unit")
    arguments = parser.parse_args()

    def show(progress: Progress) -> None:
        print(json.dumps(asdict(progress)), flush=True)

    try:
        run_units(
            arguments.results,
            address=arguments.address,
            limit_s=arguments.limit_s,
            on_progress=show,
        )
    except ClusterError as error:
        sys.exit(f"chicane: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
