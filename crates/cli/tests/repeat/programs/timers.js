// Node.js: an interval, timeouts, `fetch` and `http` with a connection that is kept open.
"use strict";
const http = require("node:http");
const { setTimeout: sleep } = require("node:timers/promises");
const { crc32 } = require("./crc32.js");

const url = process.env.CHICANE_URL;
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

function get(path) {
  return new Promise((resolve, reject) => {
    const request = http.get(url + path, { agent }, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (piece) => (text += piece));
      answer.on("end", () => resolve({ status: answer.statusCode, text }));
    });
    request.on("error", reject);
  });
}

async function drive(sum) {
  const body = JSON.stringify({ speed: 0.6, steering: (sum % 1000) / 2500 - 0.2 });
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch(url + "/drive", { method: "POST", body, headers });
  if (!answer.ok) throw new Error(await answer.text());
  await answer.arrayBuffer();
}

async function main() {
  while ((await get("/lidar?step=30")).status !== 200) await sleep(20);
  let odom = "";
  let turns = 0;
  const interval = setInterval(async () => {
    odom = (await get("/odom")).text;
    turns += 1;
  }, 83);
  for (let number = 0; number < 50; number += 1) {
    const scan = (await get("/lidar?step=20")).text;
    const sum = crc32(`${scan} ${odom} ${turns} ${Date.now()} ${performance.now() | 0}`);
    await drive(sum);
    if (number % 10 === 0) console.log(number, turns, sum, Date.now());
    await sleep(61);
  }
  clearInterval(interval);
  console.log(turns, Math.random());
  agent.destroy();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
