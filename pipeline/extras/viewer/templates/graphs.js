// Graphs as SVG: over time, on the axis of the time line, and over the gait cycle.

export const LEFT = 52, RIGHT = 8; // px beside a graph over time: names and values of the axis

export function element(parent, name, attributes = {}, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  parent.append(made);
  return made;
}

// An element of HTML with properties and what is in it.
export function make(name, properties = {}, ...content) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...content);
  return made;
}

// An array of the server: get(i, j, ...) is a value.
export function unpack({ shape, values }) {
  const bytes = Uint8Array.from(atob(values), (letter) => letter.charCodeAt(0));
  const data = new Float32Array(bytes.buffer);
  const get = (...at) => data[at.reduce((offset, i, axis) => offset * shape[axis] + i, 0)];
  return { shape, data, get };
}

// The axis of time that all graphs share: from and to are seconds, width is that of the page.
export const axis = {
  from: 0, to: 1, width: 1000,
  x(seconds) { return LEFT + ((seconds - this.from) / (this.to - this.from)) * (this.width - LEFT - RIGHT); },
  seconds(x) { return this.from + ((x - LEFT) / (this.width - LEFT - RIGHT)) * (this.to - this.from); },
};

// A path through points; NaN interrupts it.
export function pathOf(count, x, y) {
  let path = "", pen = "M";
  for (let i = 0; i < count; i++) {
    const value = y(i);
    if (Number.isFinite(value)) path += `${pen}${x(i).toFixed(1)},${value.toFixed(1)}`;
    pen = Number.isFinite(value) ? "L" : "M";
  }
  return path;
}

function rangeOf(series) {
  let low = Infinity, high = -Infinity;
  for (const values of series) for (const value of values) if (Number.isFinite(value)) { low = Math.min(low, value); high = Math.max(high, value); }
  if (low > high) return [0, 1];
  const room = 0.06 * (high - low) || 1;
  return [low - room, high + room];
}

const short = (value) => (Math.abs(value) >= 100 ? value.toFixed(0) : Number(value.toPrecision(2)).toString());

// Draw lines over time into an svg: each line has values, a class, and perhaps a part from and to (s); marks are spans.
export function overTime(svg, time, { title, lines, marks = [], height = 64 }) {
  svg.replaceChildren();
  svg.setAttribute("height", height);
  const [low, high] = rangeOf(lines.map((line) => line.values));
  const y = (value) => 18 + ((high - value) / (high - low)) * (height - 22); // below the title
  element(svg, "rect", { class: "frame", x: LEFT, y: 1, width: Math.max(0, axis.width - LEFT - RIGHT), height: height - 2 });
  const clip = element(svg, "svg", { x: LEFT, y: 0, width: Math.max(0, axis.width - LEFT - RIGHT), height });
  for (const { from, to, kind } of marks) {
    element(clip, "rect", { class: kind, x: axis.x(from) - LEFT, y: 2, width: Math.max(1, axis.x(to) - axis.x(from)), height: height - 4 });
  }
  for (const { values, kind, from = -Infinity, to = Infinity } of lines) {
    const shown = (i) => time[i] >= from && time[i] <= to ? y(values[i]) : NaN;
    element(clip, "path", { class: kind, d: pathOf(time.length, (i) => axis.x(time[i]) - LEFT, shown) });
  }
  element(svg, "text", { x: LEFT - 4, y: 26, "text-anchor": "end" }, short(high));
  element(svg, "text", { x: LEFT - 4, y: height - 4, "text-anchor": "end" }, short(low));
  element(svg, "text", { x: LEFT + 4, y: 13 }, title);
  element(svg, "line", { class: "now", y1: 0, y2: height });
}

export function moveNow(svg, seconds) {
  for (const line of svg.querySelectorAll("line.now")) {
    const x = axis.x(seconds);
    line.setAttribute("x1", x);
    line.setAttribute("x2", x);
    line.style.visibility = x < LEFT || x > axis.width - RIGHT ? "hidden" : "";
  }
}

// Draw the curves of a panel of a side: other cycles, the norm, and the cycle in view; returns the dot of the frame.
export function overCycle(parent, panel, { cycle, others, side }) {
  const width = 150, height = 84, top = 28;
  const band = panel.norm && [0, 1].map((edge) => Array.from({ length: 101 }, (_, i) => panel.norm.get(edge, i)));
  const [low, high] = rangeOf([cycle, ...others, ...(band || [])]);
  const x = (i) => (i / 100) * width, y = (value) => top + ((high - value) / (high - low)) * (height - 2);
  const svg = element(parent, "svg", { viewBox: `-24 0 ${width + 30} ${top + height + 2}` });
  element(svg, "title", {}, `${panel.title} (${panel.unit}; ${panel.sign})`);
  element(svg, "text", { x: -22, y: 10 }, panel.title + (panel.unit ? `, ${panel.unit}` : ""));
  element(svg, "text", { x: -22, y: 22, class: "quiet" }, panel.sign);
  element(svg, "rect", { class: "frame", x: 0, y: top, width, height });
  if (band) {
    const upper = pathOf(101, x, (i) => y(band[1][i])), lower = pathOf(101, (i) => x(100 - i), (i) => y(band[0][100 - i]));
    if (upper && lower) element(svg, "path", { class: "band", d: `${upper}${lower.replace("M", "L")}Z` });
  }
  if (low < 0 && high > 0) element(svg, "path", { class: "other", d: `M0,${y(0)}L${width},${y(0)}` });
  for (const other of others) element(svg, "path", { class: "other", d: pathOf(101, x, (i) => y(other[i])) });
  element(svg, "path", { class: side, d: pathOf(101, x, (i) => y(cycle[i])) });
  element(svg, "text", { x: -2, y: top + 9, "text-anchor": "end", class: "quiet" }, short(high));
  element(svg, "text", { x: -2, y: top + height, "text-anchor": "end", class: "quiet" }, short(low));
  const dot = element(svg, "circle", { class: "now", r: 3 });
  return (percent) => {
    const value = cycle[Math.round(percent)];
    dot.style.visibility = Number.isFinite(value) && percent >= 0 && percent <= 100 ? "" : "hidden";
    if (Number.isFinite(value)) { dot.setAttribute("cx", x(percent)); dot.setAttribute("cy", y(value)); }
  };
}
