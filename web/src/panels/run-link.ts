/** Links and buttons that open a run. */
import type { App } from "../app.ts";
import { writeAddress, type RunAddress } from "../replay/address.ts";
import { h, type Child, type Props } from "../ui/dom.ts";
import { icon, type IconName } from "../ui/icons.ts";

/** The address that opens a run, without the other parameters of this page. */
export function addressOf(run: RunAddress): string {
  return `${location.pathname}${writeAddress("", run)}`;
}

/** A link that opens a run on this page. A click with a modifier key opens a new tab, as usual. */
export function runLink(app: App, run: RunAddress, props: Props, ...children: Child[]): HTMLAnchorElement {
  const link = h("a", { ...props, href: addressOf(run) }, ...children);
  link.addEventListener("click", (event) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    app.run.value = run;
  });
  return link;
}

/** A button with icon and label. */
export function runButton(
  name: IconName,
  label: string,
  title: string,
  testid: string,
  click: () => void,
): HTMLButtonElement {
  return h("button", { type: "button", class: "plain", title, "data-testid": testid, on: { click } }, icon(name), label);
}
