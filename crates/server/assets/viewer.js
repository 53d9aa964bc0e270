// The live map: draws what the event stream tells and sends what people ask for.
// In the world: metres, radians, y up. On the screen: CSS pixels, y down.

import { pauseSounds } from "./audio.js";

/** @typedef {{x: number, y: number, yaw: number, steering: number}} Pose */

const API = "/sim/api";
const [SEND_EVERY_MS, RETRY_MS, TOAST_MS] = [50, 2000, 5000];
const JUMP_M = 0.5; // What is this far from where it was did not drive there.
const [DRAG_PX, TURN_RAD] = [4, Math.PI / 36];
const PULSE = [{ scale: [1, 1.12, 1] }, { duration: 400, iterations: 2, easing: "ease-in-out" }];
const LAMP = { red: "#ff4d3d", yellow: "#ffd447", green: "#3dff8b" };
/** Objects from above: layers of form, part of the size, colour. */
const LOOK = {
  box: [["block", 1, "#dba463"], ["block", 0.7, "#efc38d"]],
  cylinder: [["disc", 1, "#2fc4ae"], ["disc", 0.7, "#a9f5e9"]],
  sphere: [["disc", 1, "#a874ee"], ["disc", 0.75, "#bf95f7"], ["disc", 0.4, "#dcc4ff"]],
  cone: [["block", 1, "#ff8a2b"], ["disc", 0.85, "#c95c0c"], ["disc", 0.6, "#ffffff"], ["disc", 0.36, "#ff8a2b"]],
};

const $ = (id) => document.getElementById(id);
const clamp = (v, low, high) => Math.min(Math.max(v, low), high);
const wrap = (angle) => Math.atan2(Math.sin(angle), Math.cos(angle));
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// ---- Requests -----------------------------------------------------------------------------------

/** Asks the server: POST with a body, else GET. Throws an error with the server's own words. */
async function call(path, body) {
  const post = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(API + path, body && post).catch(() => null);
  const data = await answer?.json().catch(() => null);
  if (!answer?.ok) throw new Error(data?.error ?? "The simulator does not answer.");
  return data;
}

/** Posts; shows what went wrong, and says whether all went well. */
const send = (path, body = {}) => call(path, body).then(() => true, (error) => (toast(error.message), false));

const waiting = new Map();
let sending = false;

/** Posts when it is time: one request at a time, at most 20 a second; for each path the last one wins. */
async function post(path, body) {
  waiting.set(path, { ...waiting.get(path), ...body });
  if (sending) return;
  sending = true;
  // The loop also sees what is posted meanwhile.
  for (const [path, body] of waiting) {
    waiting.delete(path);
    const [ok] = await Promise.all([send(path, body), sleep(SEND_EVERY_MS)]);
    if (!ok) waiting.delete(path);
    if (!waiting.has(path)) posted(path, ok);
  }
  sending = false;
}

// ---- Things -------------------------------------------------------------------------------------

/** The car, an object, a wall or a light. It glides from frame to frame. */
class Thing {
  constructor(name, kind, size, movable, { x, y, yaw }) {
    Object.assign(this, { name, kind, size, movable, selectable: movable || kind === "light" });
    this.path = kind === "car" ? "/pose" : `/models/${encodeURIComponent(name)}/pose`;
    /** Where it is drawn now, and where its glide began and ends. @type {Pose} */
    this.at = this.from = this.to = { x, y, yaw, steering: 0 };
    /** A person has put it where it is; the server has not agreed yet. */
    this.held = false;
  }

  /** Takes the pose of a new frame; whether it has to move. */
  aim({ x, y, yaw, steering = 0 }) {
    const { at, held } = this;
    this.from = at;
    this.to = held ? at : { x, y, yaw, steering };
    if (Math.hypot(this.to.x - at.x, this.to.y - at.y) > JUMP_M) this.from = this.to;
    return Object.keys(this.to).some((key) => this.to[key] !== at[key]);
  }

  /** Goes to its place at `t`: 0 is the begin of the glide, 1 its end. */
  advance(t) {
    const { from, to } = this;
    const between = (key) => from[key] + (to[key] - from[key]) * t;
    const yaw = from.yaw + wrap(to.yaw - from.yaw) * t;
    this.at = t < 1 ? { x: between("x"), y: between("y"), yaw, steering: between("steering") } : to;
  }

  /** Moves or turns it: at once on the screen, soon on the server. */
  place(change) {
    if (!this.movable) return;
    this.at = this.from = this.to = { ...this.at, ...change };
    this.held = true;
    post(this.path, change);
    redraw();
  }

  /** How far a point is outside of its footprint, m. */
  distance([x, y]) {
    const [dx, dy, c, s] = [x - this.at.x, y - this.at.y, Math.cos(this.at.yaw), Math.sin(this.at.yaw)];
    const outside = (along, size) => Math.max(Math.abs(along) - size / 2, 0);
    return Math.hypot(outside(dx * c + dy * s, this.size.x), outside(dy * c - dx * s, this.size.y));
  }
}

/** The last state frame, the world as the server describes it, and the profile of the car. */
let live = null, world = null, profile = null;
/** In the order of drawing. @type {Thing[]} */
let things = [];
/** @type {Thing | null} */
let selected = null;
/** Brightness that a person has chosen; the server has not agreed yet. */
let chosenBrightness = null;
/** @type {{thing: Thing, pointer: number, start: number[], grip: number[], moved: boolean} | null} */
let drag = null;

/** The last request for a path was answered. */
function posted(path, ok) {
  if (!ok && drag?.thing.path === path) drag = null;
  for (const thing of things) if (thing.path === path) thing.held = thing === drag?.thing;
  if (path === "/brightness") chosenBrightness = null;
  if (live) onState(live);
}

function select(thing) {
  selected = thing;
  redraw();
}

const turn = (angle) => selected?.place({ yaw: wrap(selected.at.yaw + angle) });

// ---- The view -----------------------------------------------------------------------------------

const canvas = $("map");
/** Field, road and walls: drawn once for each world and window. */
const ground = document.createElement("canvas");
/** Where the world's origin is on the screen, pixels a metre, and what of the world is seen. */
const view = { left: 0, top: 0, scale: 1, dpr: 1, minX: 0, maxX: 1, minY: 0, maxY: 1 };
/** The way to the last frame, ms. */
const glide = { since: 0, span: 40, on: false };
let drawing = 0;

const px = (n) => n / view.scale;
const toWorld = ({ clientX, clientY }) => [(clientX - view.left) / view.scale, (view.top - clientY) / view.scale];

/** What is to be seen of a world without bounds. */
function extent(route) {
  const points = [...(route?.outer ?? []), ...(route?.waypoints ?? []), ...things.map(({ at }) => [at.x, at.y])];
  const [xs, ys] = [0, 1].map((axis) => points.map((point) => point[axis]));
  return { minX: Math.min(...xs) - 1, maxX: Math.max(...xs) + 1, minY: Math.min(...ys) - 1, maxY: Math.max(...ys) + 1 };
}

/** Fits the world between the bars. */
function fit() {
  const [width, height, dpr] = [innerWidth, innerHeight, devicePixelRatio];
  for (const c of [canvas, ground]) [c.width, c.height] = [Math.round(width * dpr), Math.round(height * dpr)];
  const { minX, maxX, minY, maxY } = view;
  const [top, bottom] = [$("top").getBoundingClientRect().bottom + 14, $("bottom").getBoundingClientRect().top - 30];
  const scale = Math.max(Math.min((width - 56) / (maxX - minX), (bottom - top) / (maxY - minY)), 1);
  const [left, middle] = [(width - (minX + maxX) * scale) / 2 + 8, (top + bottom + (minY + maxY) * scale) / 2];
  Object.assign(view, { left, top: middle, scale, dpr });
  $("overlay").style.top = `${top}px`;
  if (world) drawGround(ground.getContext("2d"));
  redraw();
}

/** Draws with the next picture of the screen. */
const redraw = () => (drawing ||= requestAnimationFrame(draw));

/** Brings things to where they are now; how far their glide is. */
function advance() {
  const t = clamp((performance.now() - glide.since) / glide.span, 0, 1);
  for (const thing of things) thing.advance(t);
  return t;
}

function draw() {
  drawing = 0;
  if (view.dpr !== devicePixelRatio) fit();
  if (advance() < 1 && glide.on) redraw();
  showSelected();
  const ctx = canvas.getContext("2d");
  ctx.clearRect(0, 0, canvas.width, canvas.height);
  ctx.drawImage(ground, 0, 0);
  for (const thing of things) {
    if (thing.kind !== "wall") within(ctx, thing.at, () => drawThing(ctx, thing));
    const touches = thing.kind === "car" ? live.contacts.length : live.contacts.includes(thing.name);
    if (touches || thing === selected) outline(ctx, thing, touches ? "#ff5c50" : "#ffffff");
  }
  if (!selected) return;
  const { name, at, size } = selected;
  label(ctx, name, at.x, at.y, 0, (Math.hypot(size.x, size.y) / 2) * view.scale + 18, "center", "#ffffff");
}

// ---- Drawing, in metres -------------------------------------------------------------------------

/** Draws in the frame of a pose. */
function within(ctx, { x, y, yaw }, paint) {
  const k = view.scale * view.dpr;
  ctx.save();
  ctx.setTransform(k, 0, 0, -k, view.left * view.dpr, view.top * view.dpr);
  ctx.translate(x, y);
  ctx.rotate(yaw);
  paint();
  ctx.restore();
}

/** What is drawn next glows, or throws a shadow, or neither. */
function glow(ctx, color = "transparent", blur = 0, right = 0, down = 0) {
  const k = view.scale * view.dpr;
  Object.assign(ctx, { shadowColor: color, shadowBlur: blur * k, shadowOffsetX: right * k, shadowOffsetY: down * k });
}

const shadow = (ctx, height) => glow(ctx, "rgb(0 0 0 / 60%)", 0.08, 0.15 * height, 0.25 * height);

/** A gradient from a colour to nothing. */
function fade(gradient, color) {
  gradient.addColorStop(0, `${color}90`);
  gradient.addColorStop(1, `${color}00`);
  return gradient;
}

function line(ctx, points, color, width, dash = []) {
  ctx.beginPath();
  for (const [x, y] of points) ctx.lineTo(x, y);
  ctx.setLineDash(dash);
  Object.assign(ctx, { strokeStyle: color, lineWidth: width, lineJoin: "round" }).stroke();
}

function fill(ctx, color, trace) {
  ctx.beginPath();
  trace();
  Object.assign(ctx, { fillStyle: color }).fill();
}

const polygon = (ctx, points, color) => fill(ctx, color, () => points.forEach(([x, y]) => ctx.lineTo(x, y)));
const disc = (ctx, dx, dy, color) => fill(ctx, color, () => ctx.ellipse(0, 0, dx / 2, dy / 2, 0, 0, 2 * Math.PI));
const block = (ctx, x, y, dx, dy, color, radius = 0) =>
  fill(ctx, color, () => ctx.roundRect(x - dx / 2, y - dy / 2, dx, dy, radius));

/** Text so many pixels right of and below a point of the world. */
function label(ctx, text, x, y, right, below, textAlign, fillStyle) {
  ctx.save();
  ctx.setTransform(view.dpr, 0, 0, view.dpr, 0, 0);
  const font = `600 ${clamp(innerWidth / 110, 13, 18)}px system-ui, sans-serif`;
  Object.assign(ctx, { font, textAlign, textBaseline: "middle", fillStyle });
  ctx.fillText(text, view.left + x * view.scale + right, view.top - y * view.scale + below);
  ctx.restore();
}

function drawThing(ctx, thing) {
  const { kind, size } = thing;
  if (kind === "car") return drawCar(ctx, thing.at.steering);
  if (kind === "light") return drawLight(ctx, thing);
  shadow(ctx, size.z);
  for (const [form, part, color] of LOOK[kind] ?? LOOK.box) {
    if (form === "disc") disc(ctx, size.x * part, size.y * part, color);
    else block(ctx, 0, 0, size.x * part, size.y * part, color, 0.015);
    glow(ctx);
  }
}

function drawLight(ctx, { size, lamp }) {
  const color = LAMP[lamp?.state] ?? "#5a6472";
  const across = Math.max(size.x, size.y, px(14)) * 0.85;
  const shine = fade(ctx.createRadialGradient(0, 0, 0, 0, 0, 0.8), color);
  polygon(ctx, [[0, 0], [0.72, -0.35], [0.8, 0], [0.72, 0.35]], shine);
  shadow(ctx, size.z);
  block(ctx, 0, 0, size.x + px(4), size.y + px(4), "#e8edf3", 0.03);
  glow(ctx);
  block(ctx, 0, 0, size.x, size.y, "#11151b", 0.02);
  glow(ctx, color, 0.15);
  disc(ctx, across, across, color);
  glow(ctx);
  // Red differs from green by more than its colour.
  if (lamp?.state === "red") block(ctx, 0, 0, across * 0.2, across * 0.7, "#3a0500");
}

function drawCar(ctx, steering) {
  const { wheelbase, track, wheel_radius, wheel_width, body: { size, centre } } = profile;
  const on = ([x, y]) => [centre[0] + x * size.x, centre[1] + y * size.y];
  const beam = fade(ctx.createLinearGradient(...on([0.5, 0]), ...on([2, 0])), "#fff8d6");
  disc(ctx, size.x * 1.9, size.x * 1.9, "rgb(76 194 255 / 16%)");
  polygon(ctx, [[0.5, -0.4], [2, -1.8], [2, 1.8], [0.5, 0.4]].map(on), beam);
  for (const [x, y] of [[-0.5, -0.5], [-0.5, 0.5], [0.5, -0.5], [0.5, 0.5]]) {
    ctx.save();
    ctx.translate(x * wheelbase, y * track);
    ctx.rotate(x > 0 ? steering : 0);
    shadow(ctx, wheel_radius);
    block(ctx, 0, 0, 2 * wheel_radius, wheel_width, "#0b0e13", 0.01);
    ctx.restore();
  }
  shadow(ctx, size.z);
  polygon(ctx, [[-0.5, -0.5], [0.2, -0.5], [0.5, -0.25], [0.5, 0.25], [0.2, 0.5], [-0.5, 0.5]].map(on), "#4cc2ff");
  glow(ctx);
  block(ctx, ...on([0.45, 0]), 0.1 * size.x, 0.5 * size.y, "#ffffff");
  block(ctx, ...on([0.12, 0]), 0.14 * size.x, 0.7 * size.y, "#0b2233", 0.01);
}

/** A frame around a thing, with a tick ahead. */
function outline(ctx, { at, size }, color) {
  const [x, y] = [size.x / 2 + px(5), size.y / 2 + px(5)];
  const frame = [[x + px(11), 0], [x, 0], [x, y], [-x, y], [-x, -y], [x, -y], [x, 0]];
  within(ctx, at, () => {
    line(ctx, frame, "#0b0f14", px(5));
    line(ctx, frame, color, px(2.5));
  });
}

function drawGround(ctx) {
  const { minX, maxX, minY, maxY } = view;
  ctx.clearRect(0, 0, ground.width, ground.height);
  within(ctx, { x: 0, y: 0, yaw: 0 }, () => {
    block(ctx, (minX + maxX) / 2, (minY + maxY) / 2, maxX - minX, maxY - minY, "#1d3129");
    drawGrid(ctx);
    if (world.track.route) drawRoad(ctx, world.track.route);
  });
  for (const { at, size } of things.filter(({ kind }) => kind === "wall")) {
    within(ctx, at, () => {
      shadow(ctx, size.z);
      block(ctx, 0, 0, Math.max(size.x, px(3)), Math.max(size.y, px(3)), "#c3ccd8");
    });
  }
}

/** Lines of whole metres, with numbers at the left and at the bottom. */
function drawGrid(ctx) {
  const { minX, maxX, minY, maxY } = view;
  const step = [1, 2, 5, 10, 20, 50].find((metres) => metres * view.scale >= 32) ?? 100;
  for (let x = Math.ceil(minX / step) * step; x <= maxX; x += step) {
    line(ctx, [[x, minY], [x, maxY]], "rgb(255 255 255 / 8%)", px(1));
    label(ctx, `${x}`, x, minY, 0, 16, "center", "#aab6c5");
  }
  for (let y = Math.ceil(minY / step) * step; y <= maxY; y += step) {
    line(ctx, [[minX, y], [maxX, y]], "rgb(255 255 255 / 8%)", px(1));
    label(ctx, `${y}`, minX, y, -10, 0, "right", "#aab6c5");
  }
}

function drawRoad(ctx, { waypoints, inner, outer, closed }) {
  // The last point of an open road is only there to close the loop.
  const [centre, left, right] = [waypoints, inner, outer].map((points) => (closed ? points : points?.slice(0, -1)));
  const width = left && right ? Math.hypot(left[0][0] - right[0][0], left[0][1] - right[0][1]) : 0.4;
  // Piece by piece, so that a road may cross itself.
  if (left && right) fill(ctx, "#454c57", () => {
    for (let i = 1; i < left.length; i++) {
      ctx.moveTo(...left[i - 1]);
      for (const point of [left[i], right[i], right[i - 1]]) ctx.lineTo(...point);
    }
  });
  for (const border of [left ?? [], right ?? []]) line(ctx, border, "#f2f5f9", Math.max(0.025, px(2)));
  line(ctx, centre, "#e9c766", Math.max(0.018, px(1.5)), [0.12, 0.1]);
  const [[x, y], next] = centre;
  // Start line, and which way to drive.
  within(ctx, { x, y, yaw: Math.atan2(next[1] - y, next[0] - x) }, () => {
    const [half, side] = [width / 2, width / 10];
    line(ctx, [[0, -half], [0, half]], "#14181f", 2 * side);
    line(ctx, [[-side / 2, -half], [-side / 2, half]], "#f2f5f9", side, [side, side]);
    line(ctx, [[side / 2, half], [side / 2, -half]], "#f2f5f9", side, [side, side]);
    for (const tip of [0.3, 0.4]) line(ctx, [[tip - 0.08, -0.09], [tip, 0], [tip - 0.08, 0.09]], "#f2f5f9c0", 0.025);
  });
}

// ---- Pointer and keys ---------------------------------------------------------------------------

/** The thing under the pointer, with some slack: things are small. */
function hit(event) {
  const [point, slack] = [toWorld(event), px(event.pointerType === "touch" ? 24 : 12)];
  const near = things.filter((thing) => thing.selectable && thing.distance(point) <= slack);
  return near.reverse().sort((a, b) => a.distance(point) - b.distance(point))[0] ?? null;
}

canvas.addEventListener("pointerdown", (event) => {
  if (event.button !== 0 || drag) return;
  const [thing, start] = [hit(event), toWorld(event)];
  select(thing);
  if (!thing) return;
  drag = { thing, pointer: event.pointerId, start, grip: [thing.at.x - start[0], thing.at.y - start[1]], moved: false };
  canvas.setPointerCapture(event.pointerId);
});

canvas.addEventListener("pointermove", (event) => {
  canvas.style.cursor = drag?.moved ? "grabbing" : hit(event) ? "grab" : "";
  if (drag?.pointer !== event.pointerId) return;
  const { thing, start, grip } = drag;
  const [x, y] = toWorld(event);
  drag.moved ||= Math.hypot(x - start[0], y - start[1]) > px(DRAG_PX);
  const { minX, maxX, minY, maxY } = view;
  if (drag.moved) thing.place({ x: clamp(x + grip[0], minX, maxX), y: clamp(y + grip[1], minY, maxY) });
});

/** Lets go of what is dragged. It is put here once more: on the server it may have rolled on. */
function drop() {
  const { thing, moved } = drag ?? {};
  drag = null;
  if (moved) thing.place({ x: thing.at.x, y: thing.at.y });
}
canvas.addEventListener("lostpointercapture", drop);

canvas.addEventListener("wheel", (event) => {
  if (event.ctrlKey) return; // The browser zooms.
  event.preventDefault();
  const notches = event.deltaY / (event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 100 : 3);
  if (selected && (drag?.thing ?? hit(event)) === selected) turn(-clamp(notches, -3, 3) * TURN_RAD);
}, { passive: false });

addEventListener("keydown", (event) => {
  const key = event.ctrlKey || event.altKey || event.metaKey ? "" : event.key.toLowerCase();
  if (key === "escape") drop(), select(null);
  else if (event.target.matches("select")) return; // It finds its options by letters.
  else if (key === "q") turn(TURN_RAD);
  else if (key === "e") turn(-TURN_RAD);
  else if (key === " " && !event.repeat && !event.target.matches("button, a")) pause();
});

// Who clicks and then presses Space wants to pause, not to click again.
addEventListener("click", ({ target, detail }) => detail && target.closest("button")?.blur());
addEventListener("change", ({ target }) => target.matches(":focus-visible") || target.blur());

// ---- Bars and messages --------------------------------------------------------------------------

const pause = () => send("/clock", { paused: !live?.paused });
const setLight = (state) => send(`/traffic_lights/${encodeURIComponent(selected.name)}`, { state });
$("pause").onclick = pause;
$("step").onclick = () => send("/step", { steps: 1 });
$("speed").onchange = ({ target }) => send("/clock", { speed: Number(target.value) });
$("reset").onclick = () => send("/reset");
$("respawn").onclick = () => send("/respawn");
$("brightness").oninput = ({ target }) => {
  chosenBrightness = Number(target.value);
  post("/brightness", { value: chosenBrightness });
  if (live) showBars();
};
$("world").onchange = async ({ target }) => {
  if (!(await send("/switch", { world: target.value }))) target.value = `${world?.world}.world`;
};
$("red").onclick = () => setLight("red");
$("green").onclick = () => setLight("green");
$("turn-left").onclick = () => turn(TURN_RAD);
$("turn-right").onclick = () => turn(-TURN_RAD);
$("let-go").onclick = () => select(null);

/** Writes texts by id; null hides. Writes only what is new: most frames change little. */
function show(texts) {
  for (const [id, text] of Object.entries(texts)) {
    $(id).hidden = text === null;
    if (text !== null && $(id).textContent !== text) $(id).textContent = text;
  }
}

function toast(message) {
  show({ toast: message });
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => show({ toast: null }), TOAST_MS);
}

function showBars() {
  const { time, rtf, paused, transition, current, evaluation, overlay, overlay_size } = live;
  const brightness = chosenBrightness ?? live.brightness;
  const tenths = Math.floor((time ?? 0) * 10 + 1e-6);
  const [target, percent] = [transition?.target.replace(/\.world$/, ""), Math.round(transition?.progress * 100)];
  show({
    time: `${Math.floor(tenths / 600)}:${((tenths % 600) / 10).toFixed(1).padStart(4, "0")}`,
    rtf: paused ? "paused" : `×${rtf.toFixed(2)}`,
    "pause-text": paused ? "Run" : "Pause",
    evaluation: evaluation.active ? `evaluation: ${evaluation.phase ?? "on"}` : null,
    notice: transition ? `Loading ${target} … ${percent} %` : current ? null : "Waiting for a world …",
    "brightness-text": brightness.toFixed(2),
    overlay: overlay || null,
  });
  $("pause").dataset.paused = paused;
  $("world").disabled = Boolean(transition);
  $("brightness").value = brightness;
  canvas.style.filter = brightness === 1 ? "" : `brightness(${brightness})`;
  $("overlay").style.setProperty("--size", overlay_size);
}

/** The panel of what is selected. */
function showSelected() {
  $("panel").hidden = !selected;
  if (!selected) return;
  const { name, kind, at: { x, y, yaw }, lamp } = selected;
  show({
    "panel-name": name,
    "panel-x": `${x.toFixed(2)} m`,
    "panel-y": `${y.toFixed(2)} m`,
    "panel-yaw": `${Math.round((wrap(yaw) * 180) / Math.PI)}° (${wrap(yaw).toFixed(2)} rad)`,
    "panel-speed": kind === "car" ? `${live.vehicle.speed.toFixed(2)} m/s` : null,
    "panel-light": lamp?.state === "yellow" ? `yellow, ${lamp.yellow_left.toFixed(1)} s` : lamp?.state ?? null,
  });
  $("panel").dataset.light = lamp?.state ?? "";
  $("lamps").disabled = lamp?.state === "yellow";
  for (const color of ["red", "green"]) $(color).ariaPressed = `${lamp?.state === color}`;
}

// ---- The event stream ---------------------------------------------------------------------------

/** Name of the world that is shown or being fetched, and a count of the fetches. */
let wanted = null, fetches = 0;

function onState(state) {
  const before = live ?? state;
  live = state;
  pauseSounds(state.paused);
  showBars();
  const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (state.overlay_seq !== before.overlay_seq && !calm()) $("overlay").animate(...PULSE);
  const anew = (before.transition && !state.transition) || state.time < before.time;
  if (state.current && (state.current !== wanted || anew)) loadWorld();
  advance();
  const now = performance.now();
  // A little longer than from frame to frame, so that a late one does not stop the motion.
  if (now - glide.since < 250) glide.span = 0.8 * glide.span + 0.24 * (now - glide.since);
  glide.since = now;
  glide.on = aim();
  const differs = (key) => JSON.stringify(before[key]) !== JSON.stringify(state[key]);
  if (glide.on || differs("lights") || differs("contacts")) redraw();
}

/** Tells things where they are to go; whether one has to move. */
function aim() {
  const lamps = new Map(live.lights.map((light) => [light.name, light]));
  const moves = things.map((thing) => {
    thing.lamp = lamps.get(thing.name);
    const pose = thing.kind === "car" ? live.vehicle : live.objects[thing.name];
    return pose && thing.aim(pose);
  });
  return moves.includes(true);
}

async function loadWorld() {
  wanted = live.current;
  const mine = ++fetches;
  try {
    const answers = await Promise.all([call("/world"), call("/vehicle"), call("/worlds"), call("/clock")]);
    if (mine === fetches) showWorld(...answers);
  } catch (error) {
    if (live.current) toast(error.message);
    await sleep(RETRY_MS);
    if (mine === fetches && live.current) loadWorld();
  }
}

function showWorld(found, vehicle, { worlds }, { speed }) {
  [world, profile, drag] = [found, vehicle, null];
  const { model_name, body, track, wheel_width } = vehicle;
  const entries = Object.entries(world.objects);
  things = entries.map(([name, { kind, size, movable, origin }]) => new Thing(name, kind, size, movable, origin));
  things.push(new Thing(model_name, "car", { x: body.size.x, y: track + wheel_width }, true, live.vehicle));
  selected = things.find(({ path }) => path === selected?.path) ?? null;
  document.title = `${world.display} – Chicane`;
  $("world").replaceChildren(...worlds.map(({ file, display }) => new Option(display, file)));
  $("world").value = `${world.world}.world`;
  $("speed").value = speed;
  if (!$("speed").value) $("speed").add(new Option(`${speed}×`, speed, true, true));
  Object.assign(view, world.track.bounds ?? extent(world.track.route));
  onState(live);
  fit();
}

function connect() {
  const stream = new EventSource(`${API}/events`);
  stream.addEventListener("open", () => {
    wanted = null; // It may be another server by now.
    show({ link: "live" });
    document.body.dataset.link = "live";
  });
  stream.addEventListener("state", ({ data }) => onState(JSON.parse(data)));
  stream.addEventListener("error", () => {
    show({ link: "connection lost" });
    document.body.dataset.link = "lost";
    // After an error status the browser does not try again by itself.
    if (stream.readyState === EventSource.CLOSED) setTimeout(connect, RETRY_MS);
  });
}

const resized = new ResizeObserver(fit);
for (const id of ["map", "top", "bottom"]) resized.observe($(id));
connect();
