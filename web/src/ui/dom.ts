/** Helpers for DOM elements. */

export type Child = Node | string | null | undefined | false | readonly Child[];

export interface Props {
  readonly [attribute: string]: unknown;
  readonly on?: { readonly [event: string]: (event: never) => void };
}

/**
 * Creates an element with attributes, listeners and children. An attribute with the value false,
 * null or undefined is not set.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(props.on ?? {})) {
        element.addEventListener(event, listener as EventListener);
      }
    } else {
      setAttribute(element, name, value);
    }
  }
  append(element, children);
  return element;
}

/** Sets an attribute. The value false, null or undefined removes it. */
export function setAttribute(element: Element, name: string, value: unknown): void {
  if (value === false || value === null || value === undefined) {
    element.removeAttribute(name);
  } else {
    const text = value === true ? "" : String(value);
    if (element.getAttribute(name) !== text) element.setAttribute(name, text);
  }
}

function append(element: Element, children: readonly Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) append(element, child as readonly Child[]);
    else if (child) element.append(child as Node | string);
  }
}

/** Replaces all children. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  append(element, children);
}

/**
 * Sets the text only if it differs, because most calls are made in every frame and change nothing.
 */
export function write(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Shows or hides an element. */
export function show(element: HTMLElement, shown: boolean): void {
  if (element.hidden === shown) element.hidden = !shown;
}

/** Whether a key event belongs to a text field or a list of choices. */
export function isTyping(event: Event): boolean {
  const target = event.target;
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !["range", "checkbox", "radio", "button"].includes(target.type);
  return target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}
