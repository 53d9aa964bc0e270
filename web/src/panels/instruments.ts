/** Speed and steering over time, lidar and trail in the scene, and how quickly everything goes. */
import type { App } from "../app.ts";
import { Readings } from "../net/readings.ts";
import { LidarPoints, Trails } from "../scene/marks.ts";
import { CAR } from "../scene/playback.ts";
import type { Stage } from "../scene/stage.ts";
import { t } from "../strings.ts";
import { card, fact, toggle } from "../ui/card.ts";
import { h, show, write } from "../ui/dom.ts";
import { degrees, fixed } from "../ui/format.ts";
import { plot, type Series } from "../ui/plot.ts";

const SECONDS = 20;
const MAX_VALUES = 1200;

export function instruments(app: App, stage: Stage): HTMLElement {
  const { element, body } = card({
    icon: "instruments",
    title: t.instruments.title,
    close: t.instruments.close,
    testid: "instruments",
    onClose: () => (app.instruments.value = false),
  });
  const speed = fact(t.instruments.speed);
  const steering = fact(t.instruments.steering);
  const canvas = h("canvas", { class: "plot", role: "img", "aria-label": t.instruments.plot });
  const lidar = toggle(t.instruments.lidar, t.instruments.lidarTitle, "lidar");
  const trail = toggle(t.instruments.trail, t.instruments.trailTitle, "trail");
  const drift = fact(t.instruments.drift, "drift");
  const rtf = fact(t.instruments.rtf);
  const latency = fact(t.instruments.latency, "latency");
  const fps = fact(t.instruments.fps, "fps");
  speed.element.classList.add("key-speed");
  steering.element.classList.add("key-steering");
  const legend = h("p", { class: "legend" }, h("span", { class: "key-truth" }, t.instruments.truth), h("span", { class: "key-odometry" }, t.instruments.odometry));
  body.append(
    h("dl", { class: "facts" }, speed.element, steering.element),
    canvas,
    lidar.element,
    trail.element,
    legend,
    h("dl", { class: "facts" }, drift.element, rtf.element, latency.element, fps.element),
  );

  // Lidar and trail
  let points: LidarPoints | null = null;
  const trails = new Trails();
  stage.scene.add(trails.group);
  trails.group.visible = false;
  const readings = new Readings((states) => {
    if (states.lidar && points) {
      points.show(states.lidar);
      stage.invalidate();
    }
    const truth = app.state.value?.vehicle;
    if (states.odom && truth && app.trail.value) {
      trails.add(states.odom, truth);
      stage.invalidate();
    }
  });
  const want = () => {
    const live = app.link.value === "live" && app.world.value !== null && !document.hidden;
    const names = [app.lidar.value && "lidar", app.trail.value && "odom"].filter((name) => name !== false);
    readings.want(live ? names : []);
  };
  const mount = () => {
    points?.points.removeFromParent();
    points = null;
    const at = app.profile.value?.lidar.position;
    const car = stage.piece(CAR)?.node;
    if (app.lidar.value && at && car) {
      points = new LidarPoints(at);
      car.add(points.points);
    }
    stage.invalidate();
  };
  app.world.watch(() => {
    trails.clear();
    mount();
    want();
  });
  app.link.watch(want);
  document.addEventListener("visibilitychange", want);
  app.lidar.watch((on) => {
    lidar.input.checked = on;
    mount();
    want();
  });
  app.trail.watch((on) => {
    trail.input.checked = on;
    trails.clear();
    trails.group.visible = on;
    show(legend, on);
    show(drift.element, on);
    stage.invalidate();
    want();
  });
  lidar.input.addEventListener("change", () => (app.lidar.value = lidar.input.checked));
  trail.input.addEventListener("change", () => (app.trail.value = trail.input.checked));

  // Numbers
  const speeds: { time: number; value: number }[] = [];
  const angles: { time: number; value: number }[] = [];
  app.state.watch((state, before) => {
    const { vehicle, time } = state ?? {};
    if (!state || !vehicle || typeof time !== "number") return;
    const last = speeds.at(-1)?.time ?? -1;
    if (time < last || state.world !== before?.world) {
      speeds.length = angles.length = 0;
      if (before && time < last) trails.clear();
    }
    if (time > last) {
      speeds.push({ time, value: vehicle.speed });
      angles.push({ time, value: vehicle.steering });
      if (speeds.length > MAX_VALUES) speeds.splice(0, MAX_VALUES / 2), angles.splice(0, MAX_VALUES / 2);
    }
  });
  setInterval(() => {
    const { vehicle, time, rtf: factor } = app.state.value ?? {};
    if (!app.instruments.value || !vehicle || typeof time !== "number" || document.hidden) return;
    write(speed.value, `${fixed(vehicle.speed, 2)} m/s`);
    write(steering.value, `${fixed(degrees(vehicle.steering), 1)}°`);
    write(drift.value, `${fixed(trails.drift, 3)} m`);
    write(rtf.value, `×${fixed(factor ?? 0, 2)}`);
    write(latency.value, app.latencyMs.value === null ? "–" : `${fixed(app.latencyMs.value, 1)} ms`);
    write(fps.value, fixed(stage.fps, 0));
    const limits = app.profile.value?.limits;
    const series: Series[] = [
      { colour: "--speed", max: limits?.speed ?? 3, signed: true, values: speeds },
      { colour: "--steering", max: limits?.steering ?? 0.35, signed: true, values: angles },
    ];
    plot(canvas, series, time, SECONDS);
  }, 100);
  app.instruments.watch((on) => show(element, on));
  return element;
}
