/** The settings dialog: language, theme, image quality, units and keyboard shortcuts. */
import type { SceneView } from "../scene/scene-view.ts";
import { LEVELS } from "../scene/quality.ts";
import { ANGLE_UNITS, LANGUAGE_CHOICES, settings, SPEED_UNITS, THEMES } from "../settings.ts";
import { isAssignable, isModifier, keyLabel, keyOf, type Shortcut, SHORTCUTS, withKey } from "../shortcuts.ts";
import { chooseLanguage, LANGUAGE_NAMES, t, updateLanguage } from "../strings.ts";
import { toggle } from "../ui/card.ts";
import { dialog } from "../ui/dialog.ts";
import { h, show, write } from "../ui/dom.ts";
import type { Signal } from "../ui/signal.ts";

export function settingsDialog(
  sceneView: SceneView,
  actions: { help(): void; changeQuality(): Promise<void> },
): HTMLDialogElement {
  const texts = t.settings;
  const { element, body } = dialog({ icon: "settings", title: texts.title, close: texts.close, testid: "settings-dialog" });
  element.classList.add("settings");

  const languages = LANGUAGE_CHOICES.map((choice): [typeof choice, string] => [
    choice,
    choice === "auto" ? texts.languageAuto(LANGUAGE_NAMES[chooseLanguage(navigator.languages)]) : LANGUAGE_NAMES[choice],
  ]);
  const language = choice("language", texts.language, languages, settings.language, () => void updateLanguage());
  const theme = choice(
    "theme",
    texts.theme,
    THEMES.map((one) => [one, texts.themes[one]]),
    settings.theme,
  );

  const hint = h("p", { class: "hint", role: "status", "data-testid": "quality-hint" });
  const { fixed } = sceneView.quality;
  const quality = choice(
    "quality",
    texts.quality,
    (["auto", ...LEVELS] as const).map((one) => [one, texts.qualities[one]]),
    settings.quality,
    () => void actions.changeQuality().then(describeQuality),
  );
  quality.select.disabled = fixed;
  function describeQuality(): void {
    const { level, antialias } = sceneView.quality;
    const smooth = sceneView.renderer.getContextAttributes()?.antialias ?? false;
    write(hint, fixed ? texts.qualityFixed : antialias === smooth ? texts.qualityHelp : texts.qualityEdges);
    // The automatic choice shows its level, because the user can't see it anywhere else.
    const automatic = quality.select.options[0];
    automatic.text = settings.quality.value === "auto" ? texts.qualityNow(texts.qualities[level]) : texts.qualities.auto;
    element.dataset["level"] = level;
  }
  describeQuality();

  const help = () => {
    element.close();
    actions.help();
  };
  const speed = choice(
    "speed-unit",
    texts.speedUnit,
    SPEED_UNITS.map((one) => [one, one]),
    settings.speedUnit,
  );
  const angle = choice(
    "angle-unit",
    texts.angleUnit,
    ANGLE_UNITS.map((one) => [one, texts.angleUnits[one]]),
    settings.angleUnit,
  );
  body.append(
    section(texts.appearance, language.element, theme.element, quality.element, hint),
    section(texts.units, speed.element, angle.element, h("p", { class: "hint" }, texts.unitsHelp)),
    section(texts.keyboard, ...keyboard(help)),
  );
  return element;
}

function section(title: string, ...children: HTMLElement[]): HTMLElement {
  return h("section", {}, h("h3", {}, title), ...children);
}

/** A labelled list of choices that sets a signal. */
function choice<T extends string>(
  testid: string,
  label: string,
  options: readonly (readonly [T, string])[],
  signal: Signal<T>,
  chosen: () => void = () => {},
): { element: HTMLElement; select: HTMLSelectElement } {
  const select = h("select", {
    "data-testid": `setting-${testid}`,
    on: {
      change: () => {
        const found = options.find(([value]) => value === select.value);
        if (!found) return;
        signal.value = found[0];
        chosen();
      },
    },
  });
  select.append(...options.map(([value, text]) => new Option(text, value)));
  signal.watch((value) => (select.value = value));
  return { element: h("label", { class: "setting" }, h("span", {}, label), h("span", { class: "select" }, select)), select };
}

/**
 * The switch for the shortcuts, and one button per shortcut. A clicked button waits for the new
 * key.
 */
function keyboard(openHelp: () => void): HTMLElement[] {
  const texts = t.settings;
  const on = toggle(texts.shortcuts, texts.shortcutsTitle, "setting-shortcuts");
  on.input.checked = settings.shortcuts.value;
  on.input.addEventListener("change", () => (settings.shortcuts.value = on.input.checked));
  const said = h("p", { class: "hint", role: "status", "data-testid": "keys-hint" }, texts.shortcutsHelp);
  /** The shortcut that waits for a key; null if there is none. */
  let waiting: { shortcut: Shortcut; button: HTMLButtonElement } | null = null;

  const stop = () => {
    if (waiting) paint(waiting.shortcut, waiting.button);
    waiting = null;
  };
  const paint = (shortcut: Shortcut, button: HTMLButtonElement) => {
    const key = keyLabel(keyOf(shortcut));
    button.replaceChildren(h("kbd", {}, key));
    button.ariaLabel = texts.changeKey(texts.actions[shortcut], key);
    button.ariaPressed = "false";
  };
  const row = (shortcut: Shortcut) => {
    const button = h("button", {
      type: "button",
      class: "plain",
      "data-testid": `key-${shortcut}`,
      on: {
        click: () => {
          const again = waiting?.shortcut === shortcut;
          stop();
          if (again) return;
          waiting = { shortcut, button };
          button.textContent = texts.pressKey;
          button.ariaPressed = "true";
        },
        blur: stop,
        keydown: (event: KeyboardEvent) => {
          if (waiting?.shortcut !== shortcut) return;
          // Tab leaves the button, and Escape only cancels the waiting.
          if (event.key === "Tab" || isModifier(event.key)) return;
          event.preventDefault();
          event.stopPropagation();
          if (event.key === "Escape") return stop();
          if (event.ctrlKey || event.metaKey || event.altKey || !isAssignable(event.key))
            return write(said, texts.keyReserved(keyLabel(event.key)));
          const { key } = event;
          waiting = null;
          settings.keys.value = withKey(settings.keys.value, shortcut, key);
          paint(shortcut, button);
        },
      },
    });
    paint(shortcut, button);
    return h("div", { class: "setting" }, h("span", {}, texts.actions[shortcut]), button);
  };
  const reset = h(
    "button",
    { type: "button", class: "plain", "data-testid": "keys-reset", on: { click: () => (settings.keys.value = {}) } },
    texts.usualKeys,
  );
  const list = h("div", { class: "key-list" }, ...SHORTCUTS.map(row));
  settings.shortcuts.watch((now) => {
    show(list, now);
    show(said, now);
    show(reset, now && Object.keys(settings.keys.value).length > 0);
  });
  const help = h("button", { type: "button", class: "plain", on: { click: openHelp } }, t.help.title);
  return [on.element, said, list, h("div", { class: "actions" }, help, reset)];
}
