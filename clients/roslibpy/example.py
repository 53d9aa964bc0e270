"""Drives a bend for three seconds and prints the smallest lidar range of each scan.

usage: python example.py [ws://127.0.0.1:8000/rosbridge]
"""

import sys
import time

import roslibpy

url = sys.argv[1] if len(sys.argv) > 1 else "ws://127.0.0.1:8000/rosbridge"
ros = roslibpy.Ros(url)
ros.run()
scan = roslibpy.Topic(ros, "/scan", "sensor_msgs/LaserScan")
scan.subscribe(lambda message: print(min(r for r in message["ranges"] if r is not None)))
drive = roslibpy.Topic(ros, "/cmd_vel", "geometry_msgs/Twist")
for _ in range(30):
    drive.publish({"linear": {"x": 0.5}, "angular": {"z": 0.2}})
    time.sleep(0.1)
ros.terminate()
