"""Measures steps per second of one environment with random actions, including resets.

python worker.py <contender> <seconds>, started by run.py
"""

import json
import os
import sys
import time
import warnings
from pathlib import Path

warnings.simplefilter("ignore")


def chicane(observation, cars, backend="native"):
    from chicane.gym import CarEnv, VectorCarEnv

    if cars == 1:
        return CarEnv(observation=observation, backend=backend)
    return VectorCarEnv(cars, observation=observation, backend=backend)


def metadrive():
    import logging

    from metadrive import MetaDriveEnv

    logging.disable(logging.CRITICAL)
    return MetaDriveEnv({"use_render": False, "traffic_density": 0.0})


def metadrive_camera():
    import logging

    from metadrive import MetaDriveEnv

    logging.disable(logging.CRITICAL)
    config = {
        "use_render": False,
        "image_observation": True,
        "traffic_density": 0.0,
        "vehicle_config": {"image_source": "rgb_camera", "rgb_camera": (160, 120)},
    }
    return MetaDriveEnv(config)


def car_racing():
    import gymnasium

    return gymnasium.make("CarRacing-v3")


def highway():
    import gymnasium
    import highway_env

    gymnasium.register_envs(highway_env)
    return gymnasium.make("racetrack-v1")


def racecar(camera=False):
    import gym
    import numpy

    gym.logger.set_level(50)
    if not hasattr(numpy, "bool8"):
        numpy.bool8 = numpy.bool_
    from pybullet_envs.bullet.racecarGymEnv import RacecarGymEnv
    from pybullet_envs.bullet.racecarZEDGymEnv import RacecarZEDGymEnv

    kind = RacecarZEDGymEnv if camera else RacecarGymEnv
    return kind(renders=False, isDiscrete=False)


CONTENDERS = {
    "chicane lidar": lambda: chicane("lidar", 1),
    "chicane lidar 2": lambda: chicane("lidar", 2),
    "chicane lidar 64": lambda: chicane("lidar", 64),
    "chicane camera": lambda: chicane("camera", 1),
    "chicane camera 2": lambda: chicane("camera", 2),
    "chicane camera 64": lambda: chicane("camera", 64),
    "chicane lidar http": lambda: chicane("lidar", 1, "http"),
    "chicane lidar http 2": lambda: chicane("lidar", 2, "http"),
    "chicane camera http": lambda: chicane("camera", 1, "http"),
    "chicane camera http 2": lambda: chicane("camera", 2, "http"),
    "metadrive": metadrive,
    "metadrive camera": metadrive_camera,
    "carracing": car_racing,
    "highway": highway,
    "racecar": racecar,
    "racecar camera": lambda: racecar(True),
}


def work(env):
    """Processor time in seconds of this process and of the simulators that Chicane started."""
    total = time.process_time()
    for one in getattr(env, "envs", [env]):
        program = getattr(one, "_program", None)
        if program:
            fields = Path(f"/proc/{program.pid}/stat").read_text().rsplit(")", 1)[1].split()
            total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def measure(env, seconds):
    """Steps per second of real time, and steps per second of processor time.

    A step of a vector environment counts once for each of its environments.
    """
    count = getattr(env, "num_envs", 1)
    env.reset()
    for _ in range(5):
        step(env)
    steps, started, spent = 0, time.perf_counter(), work(env)
    while time.perf_counter() - started < seconds:
        step(env)
        steps += count
    return steps / (time.perf_counter() - started), steps / max(work(env) - spent, 0.01)


def step(env):
    answer = env.step(env.action_space.sample())
    if getattr(env, "num_envs", 1) > 1:
        return  # a vector environment resets by itself
    if any(answer[2:-1]):  # `done` in the old API of Gym, else `terminated` and `truncated`
        env.reset()


def main(name, seconds):
    env = CONTENDERS[name]()
    # Wait for a line from run.py. The program run.py sends the line when all workers are ready, so
    # that two workers measure at the same time.
    print("ready", flush=True)
    sys.stdin.readline()
    rate, by_work = measure(env, float(seconds))
    print(json.dumps({"rate": rate, "by_work": by_work}), flush=True)
    env.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
