"""Tests of the simulator's ROS 2 interface against Eclipse Cyclone DDS and rclpy."""
