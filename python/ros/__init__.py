"""ROS 2 as others speak it: tests with Eclipse Cyclone DDS and with rclpy."""
