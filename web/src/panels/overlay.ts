/** Text over the 3D view: the overlay set by the API, loading progress, contacts, and toasts. */
import { type App, prefersReducedMotion } from "../app.ts";
import type { RunPoses } from "../scene/run-poses.ts";
import { t } from "../strings.ts";
import { h, show, write } from "../ui/dom.ts";
import { listen } from "../ui/scope.ts";
import type { State } from "../wire/sim.ts";

const TOAST_MS = 5000;
/** Additional time per character of an error message, because long messages take longer to read. */
const READ_MS = 40;
const PULSE: Keyframe[] = [{ scale: 1 }, { scale: 1.1 }, { scale: 1 }];

export function overlay(app: App, canvas: HTMLCanvasElement): HTMLElement[] {
  const text = h("p", { class: "overlay", role: "status", "data-testid": "overlay", hidden: true });
  const notice = h("p", { class: "notice", role: "status", "data-testid": "notice" }, t.scene.first);
  const contacts = h("p", { class: "contacts", role: "status", "data-testid": "contacts", hidden: true });

  app.state.watch((state, before) => {
    if (!state) return;
    updateNotice();
    if (app.replay.value) return;
    showMoment(state);
    if (before && state.overlay !== "" && state.overlay_seq !== before.overlay_seq && !prefersReducedMotion()) {
      text.animate(PULSE, { duration: 450, iterations: 2, easing: "ease-in-out" });
    }
  });
  let stopReplay = () => {};
  app.replay.watch((replay) => {
    stopReplay();
    stopReplay = replay ? replay.player.time.watch((time) => showMoment(recordedMoment(replay.poses, time))) : () => {};
    if (!replay && app.state.value) showMoment(app.state.value);
  });

  /** Shows a live or a recorded moment. */
  function showMoment(moment: Pick<State, "overlay" | "overlay_size" | "contacts" | "brightness">): void {
    show(text, moment.overlay !== "");
    write(text, moment.overlay);
    text.style.setProperty("--size", String(moment.overlay_size));
    const touched = moment.contacts.length > 0;
    show(contacts, touched);
    if (touched) write(contacts, t.scene.contacts(moment.contacts.join(", ")));
    // The CSS filter multiplies all pixels by the brightness, as the robot's camera does.
    const filter = moment.brightness === 1 ? "" : `brightness(${moment.brightness})`;
    if (canvas.style.filter !== filter) canvas.style.filter = filter;
  }
  app.world.watch(updateNotice);

  function updateNotice(): void {
    const state = app.state.value;
    // The progress of an installation is not shown here, because an installation does not change
    // the 3D view.
    const transition = state?.transition?.kind === "install" ? null : state?.transition;
    const percent = Math.round((transition?.progress ?? 0) * 100);
    const message = transition
      ? t.scene.loading(transition.target.replace(/\.world$/, ""), percent)
      : state && !state.current
        ? t.scene.waiting
        : app.world.value
          ? ""
          : t.scene.first;
    write(notice, message);
    show(notice, message !== "");
  }

  const toasts = h("div", { class: "toasts", "aria-live": "polite" });
  /** The element that contains the messages while no dialog is open. */
  let home: Element | null = null;
  app.toast = (message, kind = "error") => {
    const toast = h(
      "p",
      { class: `toast toast-${kind}`, role: kind === "error" ? "alert" : "status", "data-testid": "toast" },
      message,
    );
    home ??= toasts.parentElement;
    // A modal dialog covers everything outside it, so the messages must be inside the dialog.
    const host = document.querySelector("dialog[open]") ?? home;
    if (host && toasts.parentElement !== host) host.append(toasts);
    toasts.append(toast);
    while (toasts.childElementCount > 3) toasts.firstElementChild?.remove();
    setTimeout(() => toast.remove(), TOAST_MS + (kind === "error" ? READ_MS * message.length : 0));
  };
  listen(document, "close", () => home?.append(toasts), { capture: true });
  return [text, notice, contacts, toasts];
}

function recordedMoment(poses: RunPoses, time: number): Pick<State, "overlay" | "overlay_size" | "contacts" | "brightness"> {
  const { text, size } = poses.overlay(time);
  return { overlay: text, overlay_size: size, contacts: poses.contacts(time), brightness: poses.brightness(time) };
}
