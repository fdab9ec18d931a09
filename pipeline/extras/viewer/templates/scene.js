// The lab in three dimensions on a canvas: x forward, y up, z right, in m. Dragging turns it, the wheel comes nearer.

export const VIEWS = { front: [0, 8], side: [90, 8], top: [90, 89], corner: [50, 25] }; // degrees: around, above
const LAYERS = { // name: shown at first
  Names: false, "Recorded markers": false, "Repaired markers": true, Figure: true, "Head, centre of mass": true,
  "Joint centres": true, Axes: false, Plates: true, Forces: true, Soles: true,
};
const NEAR_PX = 14; // a click as far from a marker is one on it
const M_PER_N = 0.001; // length of the arrow of a force
const AXIS = ["#dc2626", "#16a34a", "#2563eb"]; // x, y, z of a segment

export class Scene {
  constructor(canvas, onPick) {
    this.canvas = canvas;
    this.layers = { ...LAYERS };
    this.follow = true;
    this.trial = null;
    this.frame = 0;
    this.picked = "";
    this.distance = 3.4;
    this.look("side");
    new ResizeObserver(() => this.draw()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.distance = Math.min(12, Math.max(0.4, this.distance * Math.exp(event.deltaY / 600)));
      this.draw();
    }, { passive: false });
    this.turnByPointer(onPick);
  }

  turnByPointer(onPick) {
    let from = null, moved = 0;
    this.canvas.addEventListener("pointerdown", (event) => {
      from = [event.clientX, event.clientY];
      moved = 0;
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!from) return;
      const [dx, dy] = [event.clientX - from[0], event.clientY - from[1]];
      from = [event.clientX, event.clientY];
      moved += Math.abs(dx) + Math.abs(dy);
      this.around += dx / 3;
      this.above = Math.min(89, Math.max(-20, this.above + dy / 3));
      this.draw();
    });
    this.canvas.addEventListener("pointerup", (event) => {
      from = null;
      if (moved < 5) onPick(this.markerAt(event.offsetX, event.offsetY));
    });
    this.canvas.addEventListener("pointercancel", () => { from = null; });
  }

  look(view) {
    [this.around, this.above] = VIEWS[view];
    this.draw();
  }

  show(trial, frame) {
    this.trial = trial;
    this.middle = this.middleOf(frame);
    this.go(frame);
  }

  go(frame) {
    this.frame = frame;
    if (this.follow) this.middle = this.middleOf(frame);
    this.draw();
  }

  // The middle of the joints, or of the markers, over the floor.
  middleOf(frame) {
    for (const { shape, get } of [this.trial.centres, this.trial.recorded]) {
      const sum = [0, 0, 0];
      for (let i = 0; i < shape[1]; i++) {
        const [x, , z] = [0, 1, 2].map((k) => get(frame, i, k));
        if (Number.isFinite(x)) { sum[0] += x; sum[1] += z; sum[2] += 1; }
      }
      if (sum[2]) return [sum[0] / sum[2], 0.8, sum[1] / sum[2]];
    }
    return [0, 0.8, 0];
  }

  // Return a function from a point in the lab to pixels; null behind the camera.
  camera() {
    const [a, e] = [this.around, this.above].map((degrees) => (degrees * Math.PI) / 180);
    const [sa, ca, se, ce] = [Math.sin(a), Math.cos(a), Math.sin(e), Math.cos(e)];
    const out = [ce * ca, se, ce * sa], right = [sa, 0, -ca], up = [-se * ca, ce, -se * sa];
    const dot = (u, v) => u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
    const { clientWidth: width, clientHeight: height } = this.canvas, focal = 1.5 * Math.min(height, 1.2 * width);
    return (point) => {
      const from = point.map((value, k) => value - this.middle[k]), depth = this.distance - dot(from, out);
      if (!(depth > 0.05)) return null;
      return [width / 2 + (focal * dot(from, right)) / depth, height / 2 - (focal * dot(from, up)) / depth];
    };
  }

  draw() {
    const ratio = devicePixelRatio || 1, { clientWidth: width, clientHeight: height } = this.canvas;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    if (!this.trial) return;
    const pen = this.canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
    pen.scale(ratio, ratio);
    pen.font = "12px system-ui, sans-serif";
    this.pen = pen;
    this.colour = (name) => style.getPropertyValue(`--${name}`).trim();
    this.toPixels = this.camera();
    this.drawFloor();
    const { trial, frame } = this;
    if (this.layers.Plates) this.drawPlates(trial);
    if (this.layers.Soles) {
      for (const [side, outline] of Object.entries(trial.soles)) this.lines(outline, () => this.verdict(this.contactsNow().find((one) => one.side === side)), 2);
    }
    if (this.layers.Figure) this.lines(trial.figure, (i) => this.colour(trial.sides[i] === "pelvis" ? "quiet" : trial.sides[i]), 4);
    if (this.layers.Axes) this.lines(trial.axes, (i) => AXIS[i % 3], 2);
    if (this.layers["Joint centres"]) this.points(trial.centres, this.colour("part-4"), 4);
    if (this.layers["Head, centre of mass"]) this.points(trial.round, this.colour("quiet"), 8);
    if (this.layers["Recorded markers"] || !trial.repaired.shape[1]) this.points(trial.recorded, this.colour("look"), 2.5);
    if (this.layers["Repaired markers"]) this.points(trial.repaired, this.colour("ink"), 2.5);
    if (this.layers.Forces) this.drawForces(trial, frame);
    if (this.layers.Names) trial.marker.forEach((name, i) => this.label(name, this.at(trial.recorded, i)));
    this.drawPicked(trial);
  }

  at(array, i, ...more) {
    return [0, 1, 2].map((k) => array.get(this.frame, i, ...more, k));
  }

  stroke(colour, width, ...points) {
    const drawn = points.map((point) => this.toPixels(point));
    if (drawn.some((point) => !point || !Number.isFinite(point[0]))) return;
    this.pen.strokeStyle = colour;
    this.pen.lineWidth = width;
    this.pen.beginPath();
    drawn.forEach(([x, y], i) => (i ? this.pen.lineTo(x, y) : this.pen.moveTo(x, y)));
    this.pen.stroke();
  }

  lines(array, colourOf, width) {
    for (let i = 0; i < array.shape[1]; i++) this.stroke(colourOf(i), width, this.at(array, i, 0), this.at(array, i, 1));
  }

  points(array, colour, radius) {
    this.pen.fillStyle = colour;
    for (let i = 0; i < array.shape[1]; i++) {
      const at = this.toPixels(this.at(array, i));
      if (!at || !Number.isFinite(at[0])) continue;
      this.pen.beginPath();
      this.pen.arc(...at, radius, 0, 7);
      this.pen.fill();
    }
  }

  label(text, point) {
    const at = this.toPixels(point);
    if (!at || !Number.isFinite(at[0])) return;
    this.pen.fillStyle = this.colour("ink");
    this.pen.fillText(text, at[0] + 6, at[1] - 6);
  }

  drawFloor() {
    const colour = this.colour("rule"), [x, , z] = this.middle.map((value) => Math.round(2 * value) / 2);
    for (let i = -8; i <= 8; i++) {
      this.stroke(colour, 0.7, [x + i / 2, 0, z - 2], [x + i / 2, 0, z + 2]);
      if (Math.abs(i) <= 4) this.stroke(colour, 0.7, [x - 4, 0, z + i / 2], [x + 4, 0, z + i / 2]);
    }
  }

  drawPlates({ plates, corners }) {
    plates.forEach((number, plate) => {
      const points = [0, 1, 2, 3].map((i) => [0, 1, 2].map((k) => corners.get(plate, i, k)));
      this.stroke(this.colour("quiet"), 1.5, ...points, points[0]);
      this.label(`plate ${number}`, [0, 1, 2].map((k) => points.reduce((sum, point) => sum + point[k], 0) / 4));
    });
  }

  drawForces(trial) {
    trial.plates.forEach((number, plate) => {
      const start = this.at(trial.pressure, plate), force = this.at(trial.force, plate);
      const contact = this.contactsNow().find((one) => one.plates.split(" ").includes(String(number)));
      this.stroke(this.verdict(contact), 3, start, start.map((value, k) => value + M_PER_N * force[k]));
    });
  }

  drawPicked(trial) {
    const point = pointOf(trial, this.picked, this.frame), at = point && this.toPixels(point);
    if (!at) return;
    this.pen.strokeStyle = this.colour("link");
    this.pen.lineWidth = 2;
    this.pen.beginPath();
    this.pen.arc(...at, 7, 0, 7);
    this.pen.stroke();
    this.label(this.picked, point);
  }

  contactsNow() {
    const now = this.trial.time.data[this.frame];
    return this.trial.contacts.filter((one) => one.start <= now && now <= one.end);
  }

  verdict(contact) {
    return this.colour({ used: "good", doubted: "look", refused: "bad" }[contact?.verdict] || "quiet");
  }

  // The name of the marker that is drawn nearest to a place; empty if none is near.
  markerAt(x, y) {
    let [best, nearest] = ["", NEAR_PX];
    for (const name of this.trial ? namesOf(this.trial) : []) {
      const point = pointOf(this.trial, name, this.frame), at = point && this.toPixels(point);
      const away = at ? Math.hypot(at[0] - x, at[1] - y) : Infinity;
      if (away < nearest) [best, nearest] = [name, away];
    }
    return best;
  }
}

// Recorded markers, and those that the body model makes of them.
export function namesOf(trial) {
  return [...new Set([...trial.marker, ...trial.landmark])];
}

// Where a marker is at a frame, repaired if the body model uses it, else as recorded; null where it is not seen.
function pointOf(trial, name, frame) {
  const sources = [[trial.repaired, trial.landmark.indexOf(name)], [trial.recorded, trial.marker.indexOf(name)]];
  for (const [array, i] of sources) {
    const point = i < 0 ? [NaN] : [0, 1, 2].map((k) => array.get(frame, i, k));
    if (point.every(Number.isFinite)) return point;
  }
  return null;
}
