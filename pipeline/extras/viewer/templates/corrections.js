// The corrections: what a person tries, what the last row changes, what is saved.

import { make } from "./graphs.js";

const byId = (id) => document.getElementById(id);
const COMPUTING = "Computing with this correction …";

export class Corrections {
  // page: state, and the functions ask, say, save, load, nearestEvent of main.js
  constructor(page) {
    this.page = page;
    this.drafts = []; // rows that are not saved, each of which fits
    this.tried = null; // the row that is being computed, or waits for a reason
    this.seen = ""; // SHA-256 of the table that this window has read
    this.kinds = {};
    this.waiting = true;
    const here = (kind) => () => this.add(kind, { side: page.state.side, time_s: this.now });
    this.keys = {
      a: here("add_foot_strike"), o: here("add_foot_off"), m: () => this.ofEvent("move"), x: () => this.ofEvent("remove"), delete: () => this.ofEvent("remove"),
      c: () => this.judge("accept_contact"), r: () => this.judge("refuse_contact"), l: () => this.leaveOut(), u: () => this.undo(this.drafts.length - 1),
    };
    this.control();
  }

  get now() { return Number(this.page.state.trial.time.data[this.page.state.frame].toFixed(3)); }

  control() {
    byId("what").addEventListener("change", () => this.showFields());
    byId("by").value = localStorage.getItem("by") || "";
    byId("by").addEventListener("change", () => localStorage.setItem("by", byId("by").value));
    for (const button of document.querySelectorAll(".here")) button.addEventListener("click", () => { byId(button.dataset.to).value = this.now.toFixed(3); });
    document.querySelector("#correct form").addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.tried && !this.waiting) this.try(this.tried); // it waited for its reason
      else this.add(byId("what").value, this.fields());
    });
    byId("save").addEventListener("click", () => this.write("/save", { drafts: this.drafts, seen: this.seen }));
    byId("before").addEventListener("change", () => this.page.load("Showing before and after …").catch((error) => this.page.say(error.message, true)));
    addEventListener("beforeunload", (event) => { if (this.drafts.length || this.tried) event.preventDefault(); });
  }

  offer(kinds) {
    this.kinds = kinds;
    byId("what").replaceChildren(...Object.entries(kinds).map(([kind, { words }]) => new Option(words, kind)));
    this.showFields();
  }

  // Show the fields that a kind of correction needs, and no others.
  showFields() {
    const { needs, given } = this.kinds[byId("what").value];
    const shown = { side: needs.includes("side"), time_s: true, to_s: needs.includes("to_s"), marker: ["marker", "labels"].includes(given), labels: given === "labels", plates: given === "plates" };
    for (const label of document.querySelectorAll("[data-needs]")) {
      label.hidden = !shown[label.dataset.needs];
      label.querySelector("input, select").disabled = label.hidden; // what is hidden need not be filled in
    }
    this.giveUp();
  }

  // Forget a row that waits for its reason.
  giveUp() {
    this.tried = null;
    byId("reason").classList.remove("waiting");
    this.wait(this.waiting);
  }

  fields() {
    const given = { marker: [byId("marker").value], labels: [byId("marker").value, byId("other").value], plates: Array.from(byId("plates").selectedOptions, (one) => one.value) };
    const kind = this.kinds[byId("what").value];
    const row = { time_s: Number(byId("time_s").value) };
    if (kind.needs.includes("side")) row.side = this.page.state.side;
    if (kind.needs.includes("to_s")) row.to_s = Number(byId("to_s").value);
    if (kind.needs.includes("given")) row.given = given[kind.given].join(kind.given === "plates" ? " " : ", ");
    return row;
  }

  pick(marker) {
    if (this.page.state.trial.marker.includes(marker)) byId("marker").value = marker;
  }

  // Make a row and try it; one without a reason waits for that.
  add(kind, { side = "", time_s, to_s = null, given = "" }) {
    if (this.waiting) return;
    const { session, name } = this.page.state, seconds = (value) => (value === null ? "" : value.toFixed(3));
    byId("what").value = kind;
    this.showFields();
    byId("time_s").value = seconds(time_s);
    byId("to_s").value = seconds(to_s);
    if (side && side !== this.page.state.side) { this.page.state.side = side; for (const select of document.querySelectorAll("select.side")) select.value = side; }
    const row = { session, trial: name, kind, side, time_s: seconds(time_s), to_s: seconds(to_s), given };
    // an event that a row made or moved, which is not saved yet, moves on: that row changes
    this.replaced = this.drafts.find((one) => kind.startsWith("move_") && [kind, kind.replace("move", "add")].includes(one.kind)
      && ["session", "trial", "side"].every((key) => one[key] === row[key]) && (one.to_s || one.time_s) === row.time_s);
    this.try(this.replaced ? { ...this.replaced, [this.replaced.to_s ? "to_s" : "time_s"]: row.to_s } : row);
  }

  try(row) {
    this.tried = { ...row, reason: byId("reason").value.trim(), by: byId("by").value.trim() };
    if (!this.tried.reason) {
      const { side, time_s, to_s } = row;
      this.page.say(`${this.kinds[row.kind].words} (${[side, `${time_s} s`, to_s && `to ${to_s} s`].filter(Boolean).join(", ")}): say why, then press Enter.`);
      byId("reason").classList.add("waiting");
      byId("reason").focus();
      this.wait(false);
      return;
    }
    byId("reason").classList.remove("waiting");
    document.activeElement.blur(); // the keys are those of the time line again
    byId("before").checked = false;
    this.page.say("");
    const { tried } = this;
    this.page.load(COMPUTING).catch((error) => {
      this.page.say(error.message, true);
    }).finally(() => { if (this.tried === tried) { this.tried = null; this.wait(this.waiting); } });
  }

  // Ask for a trial with all that is not saved; a row that is being tried stays if it fits.
  async trialWithDrafts(trial, words) {
    const { tried } = this, session = byId("session").value;
    const rows = tried?.reason ? [...this.drafts.filter((one) => one !== this.replaced), tried] : this.drafts;
    const drafts = byId("before").checked ? rows.slice(0, -1) : rows;
    const answer = await this.page.ask("/trial", { session, trial, drafts }, words);
    if (answer && tried?.reason && this.tried === tried) { this.drafts = rows; this.tried = null; }
    return answer;
  }

  show(answer, trial) {
    const placeOf = (row) => (row.session === this.page.state.session ? row.trial : `${row.session} ${row.trial}`);
    this.seen = answer.seen;
    if (!byId("before").checked) { this.words = answer.drafts; this.showEffect(answer.effect); }
    this.list("drafts", this.drafts.map((row, i) => `${placeOf(row)}: ${this.words[i] || ""}`), (i) => this.undo(i));
    this.list("saved", answer.saved.map(({ row, words, why }) => `${placeOf(row)}: ${words}${why ? `: not applied: ${why}` : ""}`), (i) => this.takeBack(answer.saved[i]));
    const names = trial.marker, { value } = byId("marker");
    for (const id of ["marker", "other"]) byId(id).replaceChildren(...names.map((name) => new Option(name)));
    byId("marker").value = names.includes(value) ? value : names[0] ?? "";
    byId("other").value = names[1] ?? "";
    for (const id of ["time_s", "to_s"]) byId(id).max = trial.time.data.at(-1).toFixed(3);
    byId("plates").replaceChildren(...trial.plates.map((number) => new Option(`plate ${number}`, number)));
    this.wait(this.waiting);
  }

  list(id, rows, takeBack) {
    byId(id).replaceChildren(...rows.map((words, i) => make("li", {}, `${words} `, make("button", { onclick: () => takeBack(i) }, "Take back"))));
    if (!rows.length) byId(id).append("None.");
  }

  showEffect(effect) {
    const place = byId("effect");
    place.replaceChildren();
    if (!effect) return;
    place.append(make("b", {}, "The last row changes"), make("ul", {}, ...effect.changes.map((words) => make("li", {}, words))));
    if (!effect.metrics.length) return;
    const rows = [["mean of the trial", "side", "before", "after"], ...effect.metrics];
    place.append(make("table", {}, ...rows.map((cells, i) => make("tr", {}, ...cells.map((text) => make(i ? "td" : "th", {}, text))))));
  }

  // While something is computed, nothing can be saved or tried, and the buttons show it.
  wait(on) {
    this.waiting = on;
    byId("save").disabled = on || !this.drafts.length || Boolean(this.tried) || byId("before").checked;
    byId("try").disabled = on;
    byId("before-label").hidden = !this.drafts.length;
  }

  ofEvent(what) {
    const event = this.page.nearestEvent();
    if (!event) return this.page.say("No event within 0.15 s of this frame: go to one (page up, page down).", true);
    this.add(`${what}_${event.name}`, { side: event.side, time_s: event.time, ...(what === "move" ? { to_s: this.now } : {}) });
  }

  judge(kind) {
    const here = this.page.state.trial.contacts.filter((one) => one.start <= this.now && this.now <= one.end);
    const mine = here.find((one) => one.side === this.page.state.side) || here[0];
    if (mine) this.add(kind, { side: mine.side, time_s: mine.start });
    else this.page.say("No stance at this frame: go to one.", true);
  }

  leaveOut() {
    const { cycle, side } = this.page.state;
    if (cycle) this.add("leave_out_cycle", { side, time_s: cycle.start });
    else this.page.say(`No ${side} cycle in this trial: choose another trial or side.`, true);
  }

  undo(i) {
    if (i < 0 || this.waiting) return;
    this.drafts = this.drafts.filter((_, at) => at !== i);
    byId("before").checked = false;
    this.tried = null;
    this.page.load("Computing without this correction …").catch((error) => this.page.say(error.message, true));
  }

  // Change the table, then show what it has now, whether that was possible or not.
  async write(path, body) {
    try {
      this.page.say((await this.page.save(path, body)).words);
      if (path === "/save") this.drafts = [];
    } catch (error) {
      this.page.say(error.message, true);
    }
    await this.page.load("Reading what is saved …").catch((error) => this.page.say(error.message, true));
  }

  takeBack({ row, words }) {
    if (!this.waiting && confirm(`Take this row out of corrections.tsv?\n\n${words}`)) this.write("/take_back", { row });
  }
}
