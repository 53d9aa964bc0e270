"""Drives a car tick by tick, and keeps the readings of the web API at every tick."""

import base64
import http.client
import json
import math
from urllib.parse import urlsplit

SENSORS = "/states?include=odom,imu,lidar,battery,joints,camera&step=0.5"
TICK_NS = 5_000_000
# Topic name -> messages per simulated second.
RATES = {
    "/clock": 200,
    "/imu": 50,
    "/odom": 30,
    "/tf": 30,
    "/joint_states": 30,
    "/sim/state": 30,
    "/camera/camera_info": 15,
    "/camera/image_raw/compressed": 15,
    "/scan": 10,
    "/scan_filtered": 10,
    "/odom/laser": 10,
    "/battery_state": 1,
}


class Client:
    """A client of the web API.

    The client keeps one connection, because each tick takes several requests.
    """

    def __init__(self, url: str):
        self.connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)

    def ask(self, path: str, body: dict | None = None):
        method = "GET" if body is None else "POST"
        headers = {"Content-Type": "application/json"}
        sent = None if body is None else json.dumps(body)
        self.connection.request(method, path, sent, headers)
        answer = self.connection.getresponse()
        data = answer.read()
        assert answer.status == 200, f"{method} {path}: {answer.status} {data.decode()}"
        return json.loads(data)

    def close(self):
        self.connection.close()


def drive(client: Client, ticks: int) -> dict[int, dict]:
    """Drives a wavy line. Returns the readings and the state by tick."""
    readings = {}
    for i in range(ticks):
        command = {"speed": 0.8, "steering": 0.3 * math.sin(i / 100), "steps": 1}
        client.ask("/sim/api/step", command)
        state = client.ask("/sim/api/state")
        if i % 50 == 0:
            client.ask("/camera/pan", {"value": 0.4 * math.sin(i / 70)})
        reading = client.ask(SENSORS)
        reading["camera"]["jpeg"] = base64.b64decode(reading["camera"].pop("data"))
        readings[round(state["time"] * 200)] = {**reading, "state": state}
    return readings


def due(topic: str, ticks) -> list[int]:
    """The ticks at which a topic has a message: sample k is at tick ceil(200 k / rate)."""
    rate = RATES[topic]
    return [tick for tick in ticks if -(-200 * (tick * rate // 200) // rate) == tick]
