/** SVG path of each icon, in a view box of 20 by 20. */
const ICON_PATHS = {
  orbit:
    "M10 6.500a3.500 3.500 0 1 0 0 7 3.500 3.500 0 0 0 0-7M2.500 12.500c-1.300-2.600 1.100-5.900 5-7.700M17.500 7.500c1.300 2.600-1.100 5.900-5 7.700M7 3.600l1.300 1.100-.7 1.600M13 16.400l-1.300-1.100.7-1.600",
  chase: "M7 16.500l.9-5.500h4.200l.9 5.500zM8.300 11l.5-2.500h2.400l.5 2.500M3.500 6.500L10 2.500l6.500 4M4.500 18h11",
  top: "M3 3h14v14H3zM10 6.500v7M6.500 10h7",
  onboard: "M2.500 6.500h10v8h-10zM12.500 9l5-2.500v8l-5-2.500M5.500 4h4",
  record: "M10 4a6 6 0 1 0 0 12 6 6 0 0 0 0-12",
  pause: "M6.500 4.500v11M13.500 4.500v11",
  play: "M6 3.800l9.500 6.200L6 16.200z",
  step: "M4.500 4.500L11 10l-6.500 5.500zM14.500 4.500v11",
  reset: "M4.200 7A6.500 6.500 0 1 1 3.500 10M4 3v4h4",
  respawn: "M10 2.500v7M6.200 5a6.500 6.500 0 1 0 7.600 0",
  flag: "M4.500 18V2.500M4.500 3.500h11l-2.500 3.750L15.500 11h-11M8.200 3.500V11M11.800 3.500V11M4.500 7.200h8.600",
  sun: "M10 6.300a3.700 3.700 0 1 0 0 7.400 3.700 3.700 0 0 0 0-7.400M10 1.800v1.700M10 16.500v1.700M1.800 10h1.700M16.500 10h1.700M4.200 4.200l1.200 1.200M14.600 14.600l1.200 1.200M15.800 4.200l-1.200 1.200M5.400 14.600l-1.200 1.200",
  worlds:
    "M4.500 16.500c-3-2.500-2-6 .8-6.700 3-.7 2.700-2.300 3.300-4.300.8-2.600 5.600-2.600 7.700 0 2.300 2.900 1.600 8-2 9.800-3.200 1.600-6.800 3.400-9.800 1.200M9.500 13.500c3.500.3 5.500-3.300 3.800-5.500",
  instruments: "M2.500 13.500a7.500 7.500 0 1 1 15 0M10 13.500l3.500-4.700M4.800 11l1 .4M10 6v1.200M2.500 16.500h15",
  drive:
    "M10 2.500a7.500 7.500 0 1 0 0 15 7.500 7.500 0 0 0 0-15M10 8.300a1.700 1.700 0 1 0 0 3.400 1.700 1.700 0 0 0 0-3.400M2.700 8.800l5.600.8M17.300 8.800l-5.600.8M10 11.700v5.800",
  sound: "M3 7.800h2.700L9.500 4.500v11l-3.800-3.300H3zM12.500 7.300a4 4 0 0 1 0 5.400M14.700 5a7 7 0 0 1 0 10",
  mute: "M3 7.800h2.700L9.500 4.500v11l-3.800-3.300H3zM13 8l4 4M17 8l-4 4",
  close: "M5 5l10 10M15 5L5 15",
  rotate: "M15.500 8A6 6 0 1 0 16 11.500M16 4.200V8h-3.800",
  copy: "M7 7h9.500v9.500H7zM13 7V3.500H3.500V13H7",
  link: "M8.500 11.500a3.200 3.200 0 0 0 4.600 0l2.600-2.600a3.250 3.250 0 0 0-4.600-4.600L10 5.400M11.500 8.500a3.200 3.200 0 0 0-4.600 0l-2.600 2.600a3.250 3.250 0 0 0 4.600 4.600L10 14.600",
  bin: "M3.500 5.500h13M8 5.500V3h4v2.500M5 5.500l.8 11.500h8.400L15 5.500M8.300 9v4.500M11.700 9v4.500",
  waypoints:
    "M4.500 13.500a1.500 1.500 0 1 0 0 3 1.500 1.500 0 0 0 0-3M15.500 3.500a1.500 1.500 0 1 0 0 3 1.500 1.500 0 0 0 0-3M6 15h5.500a3 3 0 0 0 0-6h-3a3 3 0 0 1 0-4H14",
  print: "M5.500 7V2.500h9V7M5.500 14H3V7h14v7h-2.500M5.500 11.500h9v6h-9z",
  stop: "M5 5h10v10H5z",
  help: "M7.200 7.400a2.800 2.800 0 1 1 4.100 2.500c-.9.500-1.300 1-1.300 2.100M10 15v.1M10 1.800a8.200 8.200 0 1 0 0 16.400 8.200 8.200 0 0 0 0-16.400",
  history: "M3.500 16.500V3.500M3.500 16.500h13M6 13l3-4 2.500 2L16 5.500",
  docs: "M5 2.500h7l3.500 3.500v11.500H5zM12 2.500V6h3.500M7.500 10h5M7.500 13h5",
  undo: "M7 4L3.500 7.500 7 11M3.500 7.500H12a4.200 4.200 0 0 1 0 8.500H7",
  light:
    "M6.500 2h7v16h-7zM10 4.300a1.700 1.700 0 1 0 0 3.400 1.700 1.700 0 0 0 0-3.400M10 12.300a1.700 1.700 0 1 0 0 3.400 1.700 1.700 0 0 0 0-3.400",
  box: "M10 2.500l6.500 3.500v8L10 17.500 3.500 14V6zM3.500 6L10 9.500 16.500 6M10 9.500v8",
  replay: "M3.500 10a6.500 6.500 0 1 0 2.200-4.900M3.500 3v4h4M8.500 7.300l4.200 2.700-4.200 2.700z",
  download: "M10 3v9M6.200 8.500L10 12.300l3.800-3.800M3.500 16.500h13",
  frameBack: "M15 4.500L8.500 10l6.500 5.500zM5.500 4.500v11",
  frameAhead: "M5 4.500l6.500 5.500L5 15.500zM14.500 4.500v11",
  code: "M6.500 5.500L2 10l4.500 4.500M13.500 5.500L18 10l-4.500 4.500M11.500 3.500l-3 13",
  pen: "M3.500 16.500l.8-3.600L13.500 3.700l2.800 2.800-9.200 9.200zM11.500 5.700l2.800 2.800",
  pointer: "M4.500 3l11 5-4.800 1.700L9 14.500zM11 11l4.500 5",
  hand: "M6 10.500V5.200a1.300 1.300 0 0 1 2.600 0v4M8.600 9V3.700a1.300 1.300 0 0 1 2.600 0V9M11.200 9V4.700a1.300 1.300 0 0 1 2.600 0v6M13.800 8.200a1.200 1.200 0 0 1 2.400 0V12c0 3.500-2 5.500-5.200 5.500-2.600 0-4-1.200-5.200-3.300L3.600 11c-.5-1.300 1-2 1.900-.9l1.500 2",
  cylinder: "M4.500 5.500c0-3.300 11-3.300 11 0v9c0 3.300-11 3.300-11 0zM4.500 5.500c0 3.300 11 3.300 11 0",
  cone: "M8.700 3h2.600l3.700 12.500H5zM3 16.500h14M7.500 7.500h5M6.300 11.500h7.400",
  picture: "M2.500 4h15v12h-15zM3 14.500l4.500-5 3.500 4 2.500-2.500 3.500 4M13.500 7v.1",
  grid: "M3 3h14v14H3zM3 7.700h14M3 12.300h14M7.700 3v14M12.300 3v14",
  group: "M3 3h8v8H3zM9 9h8v8H9z",
  split: "M3 3.500h14v13H3zM10 3.500v13",
  redo: "M13 4l3.500 3.500L13 11M16.500 7.500H8a4.200 4.200 0 0 0 0 8.500h5",
  upload: "M10 12.500v-9M6.200 7L10 3.200 13.800 7M3.500 16.500h13",
  plus: "M10 4v12M4 10h12",
  minus: "M4 10h12",
  fit: "M3 7V3h4M13 3h4v4M17 13v4h-4M7 17H3v-4M7 7h6v6H7z",
  alignLeft: "M3.500 3v14M6.500 5h10v3.500h-10zM6.500 11.500h6V15h-6z",
  alignCentre: "M10 2.500v2.500M10 8.500v3M10 15v2.500M4.500 5h11v3.500h-11zM6.500 11.500h7V15h-7z",
  alignRight: "M16.500 3v14M3.500 5h10v3.500h-10zM7.500 11.500h6V15h-6z",
  alignTop: "M3 3.500h14M5 6.500v10h3.500v-10zM11.500 6.500v6H15v-6z",
  alignMiddle: "M2.500 10H5M8.500 10h3M15 10h2.500M5 4.500v11h3.500v-11zM11.500 6.500v7H15v-7z",
  alignBottom: "M3 16.500h14M5 3.500v10h3.500v-10zM11.500 7.500v6H15v-6z",
  distributeX: "M3 3v14M17 3v14M8 6h4v8H8z",
  distributeY: "M3 3h14M3 17h14M6 8v4h8V8z",
  gamepad:
    "M6.500 6h7c3 0 4.500 2.500 4.500 6 0 2.500-2.500 3-3.800 1.200L13 11.500H7l-1.200 1.700C4.500 15 2 14.500 2 12c0-3.500 1.500-6 4.500-6M6.500 7.700v2.600M5.200 9h2.600M13 9h.1M15 8h.1",
  search: "M8.500 3a5.500 5.500 0 1 0 0 11 5.500 5.500 0 0 0 0-11M12.500 12.500L17 17",
  trophy: "M6 3h8v4.500a4 4 0 0 1-8 0zM6 4.500H3.500c0 3 1 4.500 3 4.700M14 4.500h2.500c0 3-1 4.500-3 4.700M10 11.500V15M6.500 17h7M8 15h4",
  settings:
    "M2.500 6h8M14.500 6h3M12.500 3.800a2.200 2.200 0 1 0 0 4.400 2.200 2.200 0 0 0 0-4.400M2.500 14h3M9.500 14h8M7.500 11.800a2.200 2.200 0 1 0 0 4.400 2.200 2.200 0 0 0 0-4.400",
  car: "M3 12.500h14M4 12.500l1.500-4.500h9l1.500 4.500v3H4zM6.500 15.500v1.500M13.500 15.500v1.500",
} as const;

export type IconName = keyof typeof ICON_PATHS;

const SVG = "http://www.w3.org/2000/svg";

/** Creates an icon. It is hidden from screen readers, so its parent element needs a label. */
export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("class", `icon icon-${name}`);
  svg.setAttribute("aria-hidden", "true");
  svg.append(path(ICON_PATHS[name]));
  return svg;
}

/** Changes an icon in place. */
export function setIcon(svg: SVGSVGElement, name: IconName): void {
  if (svg.classList.contains(`icon-${name}`)) return;
  svg.setAttribute("class", `icon icon-${name}`);
  svg.replaceChildren(path(ICON_PATHS[name]));
}

function path(d: string): SVGPathElement {
  const element = document.createElementNS(SVG, "path");
  element.setAttribute("d", d);
  return element;
}

/** Creates the logo: a chicane with kerbs. */
export function logo(): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 32 32");
  svg.setAttribute("class", "mark");
  svg.setAttribute("aria-hidden", "true");
  const bend = "M10 30C10 17 22 17 22 2";
  for (const layer of ["kerb-white", "kerb-red", "road"]) {
    const line = path(bend);
    line.setAttribute("class", layer);
    svg.append(line);
  }
  return svg;
}
