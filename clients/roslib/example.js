// Drives about half a metre forwards and prints the position from the odometry.
//
// usage: node example.js [ws://127.0.0.1:8000/rosbridge]

import { Ros, Topic } from "roslib";

const ros = new Ros({ url: process.argv[2] ?? "ws://127.0.0.1:8000/rosbridge" });
const odom = new Topic({ ros, name: "/odom", messageType: "nav_msgs/Odometry" });
odom.subscribe((message) => console.log(message.pose.pose.position));
new Topic({ ros, name: "/speed", messageType: "std_msgs/Float64" }).publish({ data: 0.5 });
setTimeout(() => ros.close(), 2000);
