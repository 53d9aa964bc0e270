/** Text over the scene: the overlay that programs set, what is being loaded, what the car touches, and toasts. */
import { type App, isCalm } from "../app.ts";
import { t } from "../strings.ts";
import { h, show, write } from "../ui/dom.ts";

const TOAST_MS = 5000;
const PULSE: Keyframe[] = [{ scale: 1 }, { scale: 1.1 }, { scale: 1 }];

export function overlay(app: App, canvas: HTMLCanvasElement): HTMLElement[] {
  const text = h("p", { class: "overlay", role: "status", "data-testid": "overlay", hidden: true });
  const notice = h("p", { class: "notice", role: "status", "data-testid": "notice" }, t.stage.first);
  const contacts = h("p", { class: "contacts", role: "status", "data-testid": "contacts", hidden: true });

  app.state.watch((state, before) => {
    if (!state) return;
    show(text, state.overlay !== "");
    write(text, state.overlay);
    text.style.setProperty("--size", String(state.overlay_size));
    if (before && state.overlay !== "" && state.overlay_seq !== before.overlay_seq && !isCalm()) {
      text.animate(PULSE, { duration: 450, iterations: 2, easing: "ease-in-out" });
    }
    const touched = state.contacts.length > 0;
    show(contacts, touched);
    if (touched) write(contacts, t.stage.contacts(state.contacts.join(", ")));
    // Pixels are multiplied at display, as the robot's camera does it.
    const filter = state.brightness === 1 ? "" : `brightness(${state.brightness})`;
    if (canvas.style.filter !== filter) canvas.style.filter = filter;
    updateNotice();
  });
  app.world.watch(updateNotice);

  function updateNotice(): void {
    const state = app.state.value;
    // A world that is only installed is no matter of the scene.
    const transition = state?.transition?.kind === "install" ? null : state?.transition;
    const percent = Math.round((transition?.progress ?? 0) * 100);
    const said = transition
      ? t.stage.loading(transition.target.replace(/\.world$/, ""), percent)
      : state && !state.current
        ? t.stage.waiting
        : app.world.value
          ? ""
          : t.stage.first;
    write(notice, said);
    show(notice, said !== "");
  }

  const toasts = h("div", { class: "toasts", "aria-live": "polite" });
  app.toast = (said, kind = "error") => {
    const toast = h(
      "p",
      { class: `toast toast-${kind}`, role: kind === "error" ? "alert" : "status", "data-testid": "toast" },
      said,
    );
    toasts.append(toast);
    while (toasts.childElementCount > 3) toasts.firstElementChild?.remove();
    setTimeout(() => toast.remove(), TOAST_MS);
  };
  return [text, notice, contacts, toasts];
}
