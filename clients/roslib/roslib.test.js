// Tests of the rosbridge endpoint with the npm package roslib, without a ROS installation.
//
// usage: CHICANE_PROGRAM=<chicane program> node --test clients/roslib

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Param, Ros, Service, Topic } from "roslib";
import { Simulator, waitFor } from "./simulator.js";

// Topic name -> type, and messages per simulated second.
const TOPICS = {
  "/camera/image_raw": ["sensor_msgs/Image", 15],
  "/camera/image_raw/compressed": ["sensor_msgs/msg/CompressedImage", 15],
  "/camera/camera_info": ["sensor_msgs/CameraInfo", 15],
  "/scan": ["sensor_msgs/msg/LaserScan", 10],
  "/scan_filtered": ["sensor_msgs/LaserScan", 10],
  "/imu": ["sensor_msgs/Imu", 50],
  "/odom": ["nav_msgs/Odometry", 30],
  "/odom/laser": ["nav_msgs/Odometry", 10],
  "/tf": ["tf2_msgs/TFMessage", 30],
  "/joint_states": ["sensor_msgs/JointState", 30],
  "/battery_state": ["sensor_msgs/BatteryState", 1],
  "/clock": ["rosgraph_msgs/Clock", 200],
};
const LATCHED = { "/tf_static": "tf2_msgs/TFMessage", "/sim/epoch": "std_msgs/UInt64" };
// On a busy machine the renderer skips pictures, so these topics may miss samples.
const PICTURES = ["/camera/image_raw", "/camera/image_raw/compressed"];
const SPAN_S = 5;

/** The tick of a message's stamp. */
function tick(message) {
  const stamp = message.clock ?? message.transforms?.[0].header.stamp ?? message.header.stamp;
  return stamp.sec * 200 + Math.floor(stamp.nanosec / 5e6);
}

function connected(simulator) {
  const ros = new Ros({ url: `ws://127.0.0.1:${simulator.port}/rosbridge` });
  ros.on("error", () => {});
  return new Promise((resolve) => ros.once("connection", () => resolve(ros)));
}

/** Subscribes to a topic and collects its messages in order. */
function record(ros, name, messageType) {
  const messages = [];
  // The queue is long, so that a busy machine loses no messages. For picture topics, only the
  // newest picture is queued.
  const topic = new Topic({ ros, name, messageType, queue_length: PICTURES.includes(name) ? 0 : 1000 });
  topic.subscribe((message) => messages.push(message));
  return { messages, end: () => topic.unsubscribe() };
}

/** Wraps a roslib call with two callbacks in a promise. */
function answer(ask) {
  return new Promise((resolve, reject) => ask(resolve, reject));
}

describe("a roslib client", () => {
  let simulator, ros;
  before(async () => {
    simulator = await Simulator.start();
    ros = await connected(simulator);
  });
  after(async () => {
    ros.close();
    await simulator.close();
  });

  test("receives every topic at its rate without loss", async () => {
    const all = Object.fromEntries(
      Object.entries({ ...TOPICS, ...LATCHED }).map(([name, kind]) => [name, record(ros, name, [kind].flat()[0])]),
    );
    for (const name of Object.keys(all)) await waitFor(name, () => all[name].messages.length > 0);
    const clock = all["/clock"].messages;
    const first = tick(clock.at(-1));
    await waitFor("time", () => tick(clock.at(-1)) > first + 200 * SPAN_S);
    const last = tick(clock.at(-1));
    for (const [name, [, rate]] of Object.entries(TOPICS)) {
      const ticks = all[name].messages.map(tick).filter((t) => t > first && t <= last);
      const samples = Array.from({ length: Math.floor((last * rate) / 200) + 1 }, (_, k) => Math.ceil((200 * k) / rate));
      const due = samples.filter((t) => t > first && t <= ticks.at(-1));
      if (PICTURES.includes(name)) {
        assert.ok(ticks.every((t) => due.includes(t)), name);
        assert.ok(ticks.length > SPAN_S, `${name}: ${ticks.length} of ${due.length}`);
      } else {
        assert.deepEqual(ticks, due, name);
        assert.ok(ticks.at(-1) > last - 400 / rate - 20, `${name} is late`);
      }
    }
    assert.equal(all["/sim/epoch"].messages.length, 1);
    for (const one of Object.values(all)) one.end();
  });

  test("receives the same values as the web API", async () => {
    const names = ["/odom", "/imu", "/scan", "/clock"];
    const all = Object.fromEntries(names.map((name) => [name, record(ros, name, TOPICS[name][0])]));
    for (const name of names) await waitFor(name, () => all[name].messages.length > 0);
    await simulator.post("/sim/api/clock", { paused: true });
    const now = Math.round((await simulator.get("/sim/api/clock")).sim_time * 200);
    const end = now + 200 - (now % 200);
    await simulator.post("/sim/api/step", { steps: end - now });
    for (const name of names) await waitFor(name, () => tick(all[name].messages.at(-1)) === end);
    const last = (name) => all[name].messages.at(-1);
    const [odom, imu] = [await simulator.get("/odom"), await simulator.get("/imu")];
    const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-5, `${a} is not ${b}`);
    near(last("/odom").pose.pose.position.x, odom.position.x);
    near(last("/imu").linear_acceleration.z, imu.acceleration.z);
    near(last("/imu").angular_velocity.z, imu.gyro.z);
    const ranges = Object.values((await simulator.get("/lidar?step=0.5")).ranges);
    const nothing = (list) => list.filter((r) => r === null).length;
    assert.equal(nothing(last("/scan").ranges), nothing(ranges));
    for (const one of Object.values(all)) one.end();
    await simulator.post("/sim/api/clock", { paused: false });
  });

  test("receives messages as CBOR and as PNG", async () => {
    for (const compression of ["cbor", "png"]) {
      const messages = [];
      const topic = new Topic({ ros, name: "/scan", messageType: "sensor_msgs/LaserScan", compression });
      topic.subscribe((message) => messages.push(message));
      await waitFor(compression, () => messages.length > 0);
      assert.equal(messages[0].ranges.length, 721, compression);
      assert.equal(messages[0].header.frame_id, "lidar_link", compression);
      topic.unsubscribe();
    }
  });

  test("drives the car", async () => {
    const { messages, end } = record(ros, "/odom", "nav_msgs/msg/Odometry");
    const place = () => messages.at(-1).pose.pose.position;
    await waitFor("odometry", () => messages.length > 0);
    const from = place();
    const twist = new Topic({ ros, name: "/cmd_vel", messageType: "geometry_msgs/Twist" });
    await waitFor("the car to move", () => {
      twist.publish({ linear: { x: 0.5, y: 0, z: 0 }, angular: { x: 0, y: 0, z: 0 } });
      return Math.hypot(place().x - from.x, place().y - from.y) > 0.3;
    });
    twist.publish({});
    await waitFor("the car to stop", async () => (await simulator.commanded("speed")) === 0);
    twist.unadvertise();
    for (const [name, value] of [["steering", 0.1], ["/camera/pan", 0.3], ["/camera/tilt", -0.2]]) {
      const topic = new Topic({ ros, name, messageType: "std_msgs/msg/Float64" });
      topic.publish({ data: value });
      await waitFor(name, async () => (await simulator.commanded(name.split("/").at(-1))) === value);
      topic.publish({ data: 0 });
    }
    end();
  });

  test("lists topics, services, types and parameters", async () => {
    const { topics, types } = await answer((yes, no) => ros.getTopics(yes, no));
    assert.equal(types[topics.indexOf("/scan")], "sensor_msgs/msg/LaserScan");
    assert.equal(topics.length, Object.keys(TOPICS).length + Object.keys(LATCHED).length + 5);
    assert.equal(await answer((yes, no) => ros.getTopicType("/imu", yes, no)), "sensor_msgs/msg/Imu");
    assert.deepEqual(await answer((yes, no) => ros.getTopicsForType("nav_msgs/Odometry", yes, no)), ["/odom", "/odom/laser"]);
    assert.deepEqual(await answer((yes, no) => ros.getNodes(yes, no)), ["/chicane"]);
    const services = await answer((yes, no) => ros.getServices(yes, no));
    assert.ok(services.includes("/rosapi/get_time"));
    assert.equal(await answer((yes, no) => ros.getServiceType("/rosapi/nodes", yes, no)), "rosapi_msgs/srv/Nodes");
    const details = await answer((yes, no) => ros.getMessageDetails("nav_msgs/msg/Odometry", yes, no));
    const decoded = ros.decodeTypeDefs(details);
    assert.equal(decoded.pose.pose.position.x, "float64");
    assert.deepEqual(decoded.pose.covariance, ["float64"]);
    const raw = await answer((yes, no) => ros.getTopicsAndRawTypes(yes, no));
    assert.match(raw.typedefs_full_text[topics.indexOf("/scan")], /float32\[\] ranges/);
    const simulated = new Param({ ros, name: "/chicane:use_sim_time" });
    assert.equal(await answer((yes, no) => simulated.get(yes, no)), true);
    const nothing = new Service({ ros, name: "/add_two_ints", serviceType: "example_interfaces/AddTwoInts" });
    await assert.rejects(answer((yes, no) => nothing.callService({ a: 1 }, yes, no)), (why) => /unknown service/.test(String(why)));
  });

  test("receives an error status for a wrong message and stays connected", async () => {
    let received;
    ros.once("status:mine", (status) => (received = status));
    ros.callOnConnection({ op: "publish", id: "mine", topic: "/speed", msg: { value: 1 } });
    const { level, msg } = await waitFor("a status message", () => received);
    assert.equal(level, "error");
    assert.match(msg, /no field "value"; it has data/);
    assert.deepEqual(await answer((yes, no) => ros.getNodes(yes, no)), ["/chicane"]);
  });
});

test("a client continues after a restart of the simulator", async () => {
  const simulator = await Simulator.start();
  const ros = await connected(simulator);
  // roslib restores subscriptions but does not reconnect, so the program has to reconnect.
  let over = false;
  ros.on("close", () => {
    if (!over) setTimeout(() => ros.connect(`ws://127.0.0.1:${simulator.port}/rosbridge`), 100);
  });
  try {
    const { messages } = record(ros, "/imu", "sensor_msgs/Imu");
    for (const how of ["SIGTERM", "SIGKILL"]) {
      await waitFor("the first message", () => messages.length > 0);
      await simulator.stop(how);
      messages.length = 0;
      await simulator.start();
      await waitFor("messages after the restart", () => messages.length > 50);
      new Topic({ ros, name: "/steering", messageType: "std_msgs/Float64" }).publish({ data: 0.25 });
      await waitFor("the steering command", async () => (await simulator.commanded("steering")) === 0.25);
    }
  } finally {
    over = true;
    ros.close();
    await simulator.close();
  }
});

describe("the example of the documentation", () => {
  test("drives and prints positions", async () => {
    const simulator = await Simulator.start();
    try {
      const program = fileURLToPath(new URL("example.js", import.meta.url));
      // The example ends after two seconds. On a busy machine, it may not have received a position by
      // then, so the test runs it again.
      await waitFor("a position", async () => {
        const run = spawn(process.execPath, [program, `ws://127.0.0.1:${simulator.port}/rosbridge`]);
        let output = "";
        run.stdout.on("data", (piece) => (output += piece));
        const status = await new Promise((resolve) => run.once("close", resolve));
        assert.equal(status, 0);
        return /x: .*y: .*z: /s.test(output) && (await simulator.get("/odom")).position.x > 0.2;
      });
    } finally {
      await simulator.close();
    }
  });
});
