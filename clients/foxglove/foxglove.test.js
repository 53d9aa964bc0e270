// Tests of the Foxglove endpoint with the vendor's own client, decoders and schemas.
//
// usage: CHICANE_PROGRAM=<chicane program> node --test clients/foxglove

import { parse } from "@foxglove/rosmsg";
import { MessageReader, MessageWriter } from "@foxglove/rosmsg2-serialization";
import { SceneUpdate } from "@foxglove/schemas/jsonschema.js";
import protocol from "@foxglove/ws-protocol";
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import { WebSocket } from "ws";
import { Simulator, waitFor } from "../roslib/simulator.js";

const { FoxgloveClient } = protocol;

// Topic -> messages per simulated second.
const RATES = {
  "/camera/camera_info": 15,
  "/scan": 10,
  "/scan_filtered": 10,
  "/imu": 50,
  "/odom": 30,
  "/odom/laser": 10,
  "/tf": 30,
  "/joint_states": 30,
  "/battery_state": 1,
  "/clock": 200,
};
const OTHERS = [
  "/camera/image_raw",
  "/camera/image_raw/compressed",
  "/tf_static",
  "/sim/epoch",
  "/sim/state",
  "/sim/scene",
  "/sim/objects",
  "/sim/tf",
];
const SPAN_S = 3;

/** The vendor's client, with the state that the server has sent so far. */
class Viewer {
  channels = new Map();
  services = new Map();
  topics = new Map();
  statuses = [];
  parameters = [];
  responses = [];
  failures = [];
  time = -1n;

  static async open(url, subprotocol) {
    const viewer = new Viewer();
    const ws = new WebSocket(url, [subprotocol]);
    viewer.client = new FoxgloveClient({ ws });
    const { client } = viewer;
    client.on("serverInfo", (info) => (viewer.info = info));
    client.on("advertise", (all) => all.forEach((channel) => viewer.channels.set(channel.topic, channel)));
    client.on("advertiseServices", (all) => all.forEach((service) => viewer.services.set(service.name, service)));
    client.on("status", (status) => viewer.statuses.push(status));
    client.on("parameterValues", (values) => viewer.parameters.push(values));
    client.on("serviceCallResponse", (response) => viewer.responses.push(response));
    client.on("serviceCallFailure", (failure) => viewer.failures.push(failure));
    client.on("time", ({ timestamp }) => (viewer.time = timestamp));
    client.on("error", (error) => viewer.statuses.push(error));
    client.on("message", ({ subscriptionId, timestamp, data }) => {
      const { messages, decode } = viewer.topics.get(subscriptionId);
      messages.push({ timestamp, message: decode(data) });
    });
    await waitFor("the advertisements", () => viewer.services.size > 0);
    return viewer;
  }

  /** Subscribes to a topic and collects its decoded messages in order. */
  record(topic) {
    const channel = this.channels.get(topic);
    const messages = [];
    this.topics.set(this.client.subscribe(channel.id), { messages, decode: decoder(channel) });
    return messages;
  }
}

/** A function that decodes the messages of a channel with the schema that the channel carries. */
function decoder({ encoding, schema, schemaEncoding }) {
  if (encoding === "json") return (data) => JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
  assert.deepEqual([encoding, schemaEncoding], ["cdr", "ros2msg"]);
  const reader = new MessageReader(parse(schema, { ros2: true }));
  return (data) => reader.readMessage(data);
}

/** The names and types of all fields of a JSON schema. */
function fields(schema, path = "") {
  if (schema.type === "object") {
    return Object.entries(schema.properties).flatMap(([name, field]) => fields(field, `${path}.${name}`));
  }
  if (schema.type === "array") return fields(schema.items, `${path}[]`);
  return [`${path} ${schema.type ?? "integer"}`];
}

describe("the vendor's client", () => {
  let simulator, viewer;
  before(async () => {
    simulator = await Simulator.start();
    viewer = await Viewer.open(`${simulator.url.replace("http", "ws")}/foxglove`, "foxglove.websocket.v1");
  });
  after(async () => {
    viewer.client.close();
    await simulator.close();
  });

  test("knows every channel and service", () => {
    assert.deepEqual([...viewer.channels.keys()].sort(), [...Object.keys(RATES), ...OTHERS].sort());
    assert.deepEqual([...viewer.services.keys()], ["/reset", "/respawn"]);
    assert.ok(viewer.info.capabilities.includes("time"));
  });

  test("decodes every topic at its rate without loss", async () => {
    // Simulated time is slow here, because the server drops messages for a slow reader, and other
    // load on the machine may delay this process.
    await simulator.post("/sim/api/clock", { speed: 0.25 });
    const all = Object.fromEntries([...viewer.channels.keys()].map((topic) => [topic, viewer.record(topic)]));
    for (const topic of Object.keys(all)) await waitFor(topic, () => all[topic].length > 0);
    const tick = ({ timestamp }) => Number(timestamp) / 5e6;
    const clock = all["/clock"];
    const first = tick(clock.at(-1));
    await waitFor("time", () => tick(clock.at(-1)) > first + 200 * SPAN_S);
    const last = tick(clock.at(-1));
    for (const [topic, rate] of Object.entries(RATES)) {
      const ticks = all[topic].map(tick).filter((t) => t > first && t <= last);
      const samples = Array.from({ length: Math.floor((last * rate) / 200) + 1 }, (_, k) => Math.ceil((200 * k) / rate));
      assert.deepEqual(ticks, samples.filter((t) => t > first && t <= ticks.at(-1)), topic);
      assert.ok(ticks.at(-1) > last - 400 / rate - 20, `${topic} is late`);
    }
    const newest = (topic) => all[topic].at(-1).message;
    assert.equal(newest("/scan").ranges.length, 721);
    assert.equal(newest("/imu").header.frame_id, "imu_link");
    assert.equal(newest("/camera/image_raw").data.length, 480 * 360 * 3);
    assert.deepEqual([...newest("/camera/image_raw/compressed").data.slice(0, 2)], [0xff, 0xd8]);
    assert.equal(newest("/sim/tf").transforms[0].child_frame_id, "odom");
    assert.equal(newest("/sim/state").world, "oval");
    assert.ok(newest("/sim/scene").entities.some(({ id }) => id === "road"));
    assert.ok(newest("/sim/objects").entities.some(({ id }) => id === "car"));
    await waitFor("the time", () => viewer.time >= BigInt(last) * 5_000_000n);
    await simulator.post("/sim/api/clock", { speed: 1 });
    for (const id of viewer.topics.keys()) viewer.client.unsubscribe(id);
  });

  test("sees the vendor's schema of scenes", () => {
    const own = JSON.parse(viewer.channels.get("/sim/scene").schema);
    assert.deepEqual(fields(own).sort(), fields(SceneUpdate).sort());
  });

  test("finds the topics of the layout", async () => {
    const layout = await readFile(new URL("../../docs/foxglove/layout.json", import.meta.url), "utf8");
    const topics = [...layout.matchAll(/"(\/[a-z_/]+)"/g)].map(([, topic]) => topic.replace(/\.$/, ""));
    const known = [...viewer.channels.keys(), ...viewer.services.keys(), "/cmd_vel"];
    assert.ok(topics.length > 3);
    for (const topic of topics) assert.ok(known.includes(topic), topic);
    const plotted = [...layout.matchAll(/"value": "(\/[a-z_/]+)\./g)].map(([, topic]) => topic);
    for (const topic of plotted) assert.ok(known.includes(topic), topic);
  });

  test("reads, sets and watches parameters", async () => {
    const values = (id) => viewer.parameters.find((one) => one.id === id)?.parameters;
    viewer.client.getParameters([], "all");
    const all = await waitFor("the parameters", () => values("all"));
    assert.deepEqual(all.map(({ name }) => name), ["brightness", "speed", "paused"]);
    viewer.client.subscribeParameterUpdates(["brightness"]);
    viewer.client.setParameters([{ name: "brightness", value: 0.5 }], "set");
    assert.deepEqual(await waitFor("the value", () => values("set")), [{ name: "brightness", value: 0.5, type: "float64" }]);
    assert.deepEqual(await simulator.get("/sim/api/brightness"), { value: 0.5 });
    await simulator.post("/sim/api/brightness", { value: 1 });
    await waitFor("the change", () => viewer.parameters.some(({ id, parameters }) => !id && parameters[0].value === 1));
    viewer.client.setParameters([{ name: "brightness", value: 9 }], "wrong");
    await waitFor("the refusal", () => viewer.statuses.some(({ message }) => /0\.2 to 2/.test(message)));
  });

  test("calls services", async () => {
    for (const [callId, name] of [[1, "/reset"], [2, "/respawn"]]) {
      const { id, request, response } = viewer.services.get(name);
      const data = new MessageWriter(parse(request.schema, { ros2: true })).writeMessage({});
      const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
      viewer.client.sendServiceCallRequest({ serviceId: id, callId, encoding: "cdr", data: view });
      const answer = await waitFor(name, () => viewer.responses.find((one) => one.callId === callId));
      const reader = new MessageReader(parse(response.schema, { ros2: true }));
      assert.deepEqual({ ...reader.readMessage(answer.data) }, { success: true, message: "" });
    }
    viewer.client.sendServiceCallRequest({ serviceId: 9, callId: 3, encoding: "cdr", data: new DataView(new ArrayBuffer(4)) });
    await waitFor("the failure", () => viewer.failures.some(({ callId }) => callId === 3));
  });

  test("drives the car", async () => {
    const schema = "geometry_msgs/Vector3 linear\ngeometry_msgs/Vector3 angular\n" +
      `${"=".repeat(80)}\nMSG: geometry_msgs/Vector3\nfloat64 x\nfloat64 y\nfloat64 z\n`;
    const writer = new MessageWriter(parse(schema, { ros2: true }));
    const schemaName = "geometry_msgs/msg/Twist";
    const channel = viewer.client.advertise({ topic: "/cmd_vel", encoding: "cdr", schemaName, schema });
    const odom = viewer.record("/odom");
    await waitFor("odometry", () => odom.length > 0);
    await waitFor("the car to move", () => {
      viewer.client.sendMessage(channel, writer.writeMessage({ linear: { x: 0.5, y: 0, z: 0 }, angular: { x: 0, y: 0, z: 0 } }));
      return odom.at(-1).message.pose.pose.position.x > 0.3;
    });
    viewer.client.unadvertise(channel);
  });
});

test("a client of the newer protocol connects", async () => {
  const simulator = await Simulator.start();
  try {
    const url = `${simulator.url.replace("http", "ws")}/foxglove`;
    const viewer = await Viewer.open(url, "foxglove.sdk.v1");
    const state = viewer.record("/sim/state");
    await waitFor("the state", () => state.length > 0);
    viewer.client.close();
  } finally {
    await simulator.close();
  }
});
