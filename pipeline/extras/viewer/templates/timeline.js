// The time line: contacts with their plates and events of each side. A click goes there; dragging an event moves it.

import { LEFT, RIGHT, axis, element, moveNow } from "./graphs.js";

const LANE = 34, TOP = 16, HEIGHT = TOP + 2 * LANE + 4;
const DRAGGED_PX = 4;
const SOURCES = { c3d: "in the recording", plate: "by the plate", hand: "by hand" };

export class TimeLine {
  // actions: go(seconds), choose(event or null), move(event, seconds)
  constructor(svg, actions) {
    this.svg = svg;
    this.actions = actions;
    this.trial = null;
    this.chosen = null;
    svg.setAttribute("height", HEIGHT);
    svg.addEventListener("pointerdown", (event) => this.press(event));
    svg.addEventListener("pointermove", (event) => this.drag(event));
    svg.addEventListener("pointerup", (event) => this.release(event));
    svg.addEventListener("pointercancel", () => this.giveUp());
  }

  show(trial) {
    this.trial = trial;
    const { time, side, name } = this.chosen || {};
    this.chosen = trial.events.find((one) => one.side === side && one.name === name && Math.abs(one.time - time) < 0.002) || null;
    this.draw();
  }

  choose(event) {
    this.chosen = event;
    this.draw();
  }

  draw() {
    this.svg.replaceChildren();
    const clip = element(this.svg, "svg", { x: LEFT, y: 0, width: Math.max(0, axis.width - LEFT - RIGHT), height: HEIGHT });
    this.drawScale(clip);
    ["left", "right"].forEach((side, lane) => {
      const y = TOP + lane * LANE;
      element(this.svg, "text", { x: 4, y: y + 20 }, side);
      element(this.svg, "rect", { class: "frame", x: LEFT, y, width: Math.max(0, axis.width - LEFT - RIGHT), height: LANE - 3 });
      for (const contact of this.trial.contacts.filter((one) => one.side === side)) this.drawContact(clip, contact, y);
      this.trial.events.forEach((event, i) => { if (event.side === side) this.drawEvent(clip, event, i, y); });
    });
    element(this.svg, "line", { class: "now", y1: 0, y2: HEIGHT });
    moveNow(this.svg, this.now ?? axis.from);
  }

  drawScale(clip) {
    const steps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60];
    const step = steps.find((one) => (one / (axis.to - axis.from)) * axis.width > 60) || 60;
    for (let i = Math.ceil(axis.from / step); i * step <= axis.to; i++) {
      element(clip, "text", { x: axis.x(i * step) - LEFT, y: 11, class: "quiet" }, `${Number((i * step).toFixed(2))} s`);
    }
  }

  drawContact(clip, { start, end, verdict, plates, why }, y) {
    const x = axis.x(start) - LEFT, width = Math.max(1, axis.x(end) - axis.x(start));
    const drawn = element(clip, "rect", { class: `contact ${verdict}`, x, y: y + 2, width, height: LANE - 7 });
    element(drawn, "title", {}, `${verdict}${why ? `: ${why}` : ""}`);
    const text = plates ? `plate ${plates}` : "";
    if (width > 50) element(clip, "text", { x: x + 8, y: y + 20 }, text || (width > 90 ? "no plate" : ""));
  }

  drawEvent(clip, event, i, y) {
    const at = axis.x(this.held?.event === event && this.held.moved ? this.held.seconds : event.time) - LEFT;
    const chosen = this.chosen === event ? " chosen" : "";
    const group = element(clip, "g", { class: `event ${event.side} ${event.name}${chosen}`, "data-index": i });
    element(group, "title", {}, `${event.side} ${event.name.replace("_", " ")} at ${event.time.toFixed(3)} s (${SOURCES[event.source] || event.source})`);
    element(group, "line", { x1: at, x2: at, y1: y, y2: y + LANE - 3 });
    const tip = event.name === "foot_strike" ? [y + LANE - 11, y + LANE - 3] : [y + 8, y];
    element(group, "polygon", { points: `${at - 5},${tip[0]} ${at + 5},${tip[0]} ${at},${tip[1]}` });
    element(group, "rect", { x: at - 7, y, width: 14, height: LANE - 3 });
  }

  secondsAt(event) {
    const seconds = axis.seconds(event.clientX - this.svg.getBoundingClientRect().left);
    return this.trial.nearest(seconds);
  }

  press(event) {
    if (!this.trial || event.button) return;
    const of = event.target.closest(".event");
    this.held = { event: of ? this.trial.events[of.dataset.index] : null, from: event.clientX, moved: false };
    this.svg.setPointerCapture(event.pointerId);
    if (!this.held.event) this.actions.go(this.secondsAt(event));
  }

  drag(event) {
    if (!this.held) return;
    this.held.moved ||= Math.abs(event.clientX - this.held.from) >= DRAGGED_PX;
    if (!this.held.moved) return;
    this.held.seconds = this.secondsAt(event);
    this.actions.go(this.held.seconds);
    if (this.held.event) this.draw();
  }

  giveUp() { this.held = null; this.draw(); } // an event that is dragged stays where it was

  release() {
    const { held } = this;
    this.held = null;
    if (!held) return;
    this.choose(held.event);
    if (held.event && held.moved) this.actions.move(held.event, held.seconds);
    else if (held.event) this.actions.go(held.event.time);
  }
}
