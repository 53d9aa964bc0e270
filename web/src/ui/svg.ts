/** Helpers for SVG elements. */
const SVG = "http://www.w3.org/2000/svg";

/** Creates an SVG element with attributes and children. */
export function s(
  tag: string,
  attributes: Readonly<Record<string, string | number>> = {},
  ...children: (Node | string)[]
): SVGElement {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}
