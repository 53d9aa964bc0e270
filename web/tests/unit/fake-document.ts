/** The parts of the DOM that the unit tests of panels need, because Node has no DOM. */
import { vi } from "vitest";

/** An element with attributes, listeners and children, without layout and styles. */
export class FakeElement extends EventTarget {
  readonly #attributes = new Map<string, string>();
  readonly dataset: Record<string, string> = {};
  readonly classList = { toggle: (): void => {} };
  children: (FakeElement | string)[] = [];
  hidden = false;
  value = "";

  getAttribute = (name: string): string | null => this.#attributes.get(name) ?? null;
  setAttribute = (name: string, value: string): void => void this.#attributes.set(name, value);
  removeAttribute = (name: string): void => void this.#attributes.delete(name);
  append = (...children: (FakeElement | string)[]): void => void this.children.push(...children);
  replaceChildren = (...children: (FakeElement | string)[]): void => {
    this.children = children;
  };

  get textContent(): string {
    let text = "";
    for (const child of this.children) {
      text += typeof child === "string" ? child : child.textContent;
    }
    return text;
  }

  set textContent(text: string) {
    this.children = [text];
  }

  /** All elements inside of this element that have this `data-testid`. */
  byTestId(name: string): FakeElement[] {
    const inside = this.children.filter((child) => typeof child !== "string");
    return inside.flatMap((child) => [
      ...(child.getAttribute("data-testid") === name ? [child] : []),
      ...child.byTestId(name),
    ]);
  }
}

/**
 * Replaces `window`, `document` and `localStorage` until `vi.unstubAllGlobals()`. Returns the first
 * two, to which a test dispatches events, and the stored values.
 */
export function stubDocument() {
  const kept = new Map<string, string>();
  const createElement = () => new FakeElement();
  const page = {
    kept,
    // The fake timers of a test replace the global `setTimeout` later, so each call looks it up
    // again.
    window: Object.assign(new EventTarget(), {
      setTimeout: (run: () => void, ms: number) => setTimeout(run, ms),
    }),
    document: Object.assign(new EventTarget(), {
      createElement,
      createElementNS: createElement,
      activeElement: null,
      hidden: false,
    }),
  };
  vi.stubGlobal("window", page.window);
  vi.stubGlobal("document", page.document);
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  });
  return page;
}
