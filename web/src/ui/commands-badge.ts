/**
 * A badge with a number of commands. A click on the badge lists the first commands in a popover.
 */
import { t } from "../strings.ts";
import type { CommandSource, SentCommand, SentCommands } from "../wire/sim.ts";
import { fill, h } from "./dom.ts";
import { clock } from "./format.ts";

/** Distance of the popover from its badge and from the edges of the page, in pixels. */
const GAP_PX = 8;
const WIDTH_PX = 400;

let count = 0;

/** A badge and its popover; null if there are no commands. */
export function commandsBadge(options: {
  label: (count: number) => string;
  title: string;
  commands: SentCommands | null | undefined;
  testid: string;
}): HTMLElement | null {
  const { commands, title, testid } = options;
  if (!commands || commands.count === 0) return null;
  const id = `commands-${++count}`;
  const popover = h("div", {
    id,
    popover: "auto",
    class: "commands",
    role: "dialog",
    "aria-label": title,
    "data-testid": `${testid}-commands`,
  });
  const badge = h(
    "button",
    { type: "button", class: "badge badge-warn badge-button", title, popovertarget: id, "data-testid": testid },
    options.label(commands.count),
  );
  popover.addEventListener("beforetoggle", (event) => {
    if ((event as ToggleEvent).newState !== "open") return;
    place(popover, badge.getBoundingClientRect());
    fill(popover, h("h3", {}, title), table(commands.first), rest(commands));
  });
  return h("span", { class: "badge-place" }, badge, popover);
}

/** Places the popover below or above the badge, where there is more space. */
function place(popover: HTMLElement, badge: DOMRect): void {
  const width = Math.min(WIDTH_PX, innerWidth - 2 * GAP_PX);
  const below = innerHeight - badge.bottom > badge.top;
  const space = (below ? innerHeight - badge.bottom : badge.top) - 2 * GAP_PX;
  Object.assign(popover.style, {
    width: `${width}px`,
    maxHeight: `${space}px`,
    left: `${Math.max(GAP_PX, Math.min(badge.left, innerWidth - width - GAP_PX))}px`,
    top: below ? `${badge.bottom + GAP_PX}px` : "auto",
    bottom: below ? "auto" : `${innerHeight - badge.top + GAP_PX}px`,
  });
}

function table(commands: readonly SentCommand[]): HTMLElement {
  const heads = [t.evaluation.commandTime, t.evaluation.commandSource, t.evaluation.commandPath];
  const sources: Record<CommandSource, string> = t.evaluation.sources;
  return h(
    "table",
    {},
    h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", { scope: "col" }, head)))),
    h(
      "tbody",
      {},
      ...commands.map(({ time, source, path, values }) =>
        h(
          "tr",
          {},
          h("td", {}, clock(time ?? 0)),
          h("td", {}, sources[source] ?? source),
          h("td", { class: "mono" }, path, h("span", { class: "command-values" }, valuesText(values))),
        ),
      ),
    ),
  );
}

function rest({ count, first }: SentCommands): HTMLElement | null {
  return count > first.length ? h("p", { class: "hint" }, t.evaluation.moreCommands(count - first.length)) : null;
}

/** The parameters of a command as `name value` pairs. */
function valuesText(values: unknown): string {
  if (typeof values !== "object" || values === null) return values === null ? "" : JSON.stringify(values);
  return Object.entries(values)
    .map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
}
