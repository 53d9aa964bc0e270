/** The instruments card: speed and steering over time, lidar points, trails, and performance. */
import type { App } from "../app.ts";
import { ReadingsStream } from "../net/readings.ts";
import { LidarPoints, Trails } from "../scene/marks.ts";
import { CAR } from "../scene/playback.ts";
import type { SceneView } from "../scene/scene-view.ts";
import { keyed } from "../shortcuts.ts";
import { t } from "../strings.ts";
import { card, labelledValue, toggle } from "../ui/card.ts";
import { h, show, write } from "../ui/dom.ts";
import { angleText, degrees, fixed, speedText } from "../ui/format.ts";
import { plot, plotBox, type Series } from "../ui/plot.ts";
import { every, listen, onEnd } from "../ui/scope.ts";

/** Time range of the plot. */
const SECONDS = 20;
/** When a series has more values than this, its older half is dropped. */
const MAX_VALUES = 1200;

export function instruments(app: App, sceneView: SceneView): HTMLElement {
  const { element, body } = card({
    icon: "instruments",
    title: t.instruments.title,
    close: t.instruments.close,
    testid: "instruments",
    onClose: () => (app.instruments.value = false),
  });
  const speed = labelledValue(t.instruments.speed);
  const steering = labelledValue(t.instruments.steering);
  const { element: plotElement, canvas, setScales } = plotBox(t.instruments.plot, SECONDS, {
    left: "axis-speed",
    right: "axis-steering",
  });
  const lidar = toggle(t.instruments.lidar, keyed(t.instruments.lidarTitle, "lidar"), "lidar");
  const trail = toggle(t.instruments.trail, keyed(t.instruments.trailTitle, "trail"), "trail");
  const drift = labelledValue(t.instruments.drift, "drift");
  const rtf = labelledValue(t.instruments.rtf);
  const latency = labelledValue(t.instruments.latency, "latency");
  const fps = labelledValue(t.instruments.fps, "fps");
  speed.element.classList.add("key-speed");
  steering.element.classList.add("key-steering");
  const legend = h(
    "p",
    { class: "legend" },
    h("span", { class: "key-truth" }, t.instruments.truth),
    h("span", { class: "key-odometry" }, t.instruments.odometry),
  );
  body.append(
    h("dl", { class: "facts" }, speed.element, steering.element),
    plotElement,
    lidar.element,
    trail.element,
    legend,
    h("dl", { class: "facts" }, drift.element, rtf.element, latency.element, fps.element),
  );

  // Lidar points and trails
  let points: LidarPoints | null = null;
  const trails = new Trails();
  sceneView.scene.add(trails.group);
  trails.group.visible = false;
  onEnd(() => {
    trails.clear();
    trails.group.removeFromParent();
    points?.points.removeFromParent();
    readings.subscribe([]);
  });
  const readings = new ReadingsStream((states) => {
    if (states.lidar && points) {
      points.show(states.lidar);
      sceneView.invalidate();
    }
    const truth = app.state.value?.vehicle;
    if (states.odom && truth && app.trail.value) {
      trails.add(states.odom, truth);
      sceneView.invalidate();
    }
  });
  const updateSubscription = () => {
    const live = app.link.value === "live" && app.world.value !== null && !document.hidden;
    const names = [app.lidar.value && "lidar", app.trail.value && "odom"].filter((name) => name !== false);
    readings.subscribe(live ? names : []);
  };
  const attachLidarPoints = () => {
    points?.points.removeFromParent();
    points = null;
    const scanner = app.profile.value?.lidar;
    const car = sceneView.item(CAR)?.node;
    if (app.lidar.value && scanner && car) {
      points = new LidarPoints(scanner.position, scanner.beams);
      car.add(points.points);
    }
    updateVisibility();
  };
  // Lidar points and trails belong to the live simulation, so a replay does not show them.
  const updateVisibility = () => {
    const live = app.run.value === null;
    if (points) points.points.visible = live;
    trails.group.visible = live && app.trail.value;
    sceneView.invalidate();
  };
  app.run.watch(updateVisibility);
  app.world.watch(() => {
    trails.clear();
    attachLidarPoints();
    updateSubscription();
  });
  app.link.watch(updateSubscription);
  listen(document, "visibilitychange", updateSubscription);
  app.lidar.watch((on) => {
    lidar.input.checked = on;
    attachLidarPoints();
    updateSubscription();
  });
  app.trail.watch((on) => {
    trail.input.checked = on;
    trails.clear();
    updateVisibility();
    show(legend, on);
    show(drift.element, on);
    updateSubscription();
  });
  lidar.input.addEventListener("change", () => (app.lidar.value = lidar.input.checked));
  trail.input.addEventListener("change", () => (app.trail.value = trail.input.checked));

  // Plot and values
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
      if (speeds.length > MAX_VALUES) (speeds.splice(0, MAX_VALUES / 2), angles.splice(0, MAX_VALUES / 2));
    }
  });
  every(100, () => {
    const { vehicle, time, rtf: factor } = app.state.value ?? {};
    if (!app.instruments.value || !vehicle || typeof time !== "number" || document.hidden) return;
    const { units } = t;
    const latencyMs = app.latencyMs.value;
    write(speed.value, speedText(vehicle.speed, 2));
    write(steering.value, angleText(vehicle.steering, 1));
    write(drift.value, units.metres(fixed(trails.drift, 3)));
    write(rtf.value, units.realTimeFactor(fixed(factor ?? 0, 2)));
    write(latency.value, latencyMs === null ? units.none : units.milliseconds(fixed(latencyMs, 1)));
    write(fps.value, fixed(sceneView.fps, 0));
    const { speed: maxSpeed = 3, steering: maxSteering = 0.35 } = app.profile.value?.limits ?? {};
    const series: Series[] = [
      { colour: "--speed", max: maxSpeed, signed: true, values: speeds },
      { colour: "--steering", max: maxSteering, signed: true, values: angles },
    ];
    setScales(units.metresPerSecond(short(maxSpeed)), units.degrees(short(degrees(maxSteering))));
    plot(canvas, series, time, SECONDS);
  });
  app.instruments.watch((on) => show(element, on));
  return element;
}

/** Formats a value of an axis, without unnecessary decimals. */
function short(value: number): string {
  return String(Number(value.toFixed(1)));
}
