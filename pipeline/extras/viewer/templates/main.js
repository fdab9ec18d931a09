// The viewer of one window: which trial, which frame; scene, time line, graphs and curves of it. The server keeps nothing
// of a window.

import { axis, element, make, moveNow, overCycle, overTime, unpack } from "./graphs.js";
import { Scene, VIEWS, namesOf } from "./scene.js";
import { TimeLine } from "./timeline.js";
import { Corrections } from "./corrections.js";

const byId = (id) => document.getElementById(id);
const WINDOW = crypto.randomUUID();
const ARRAYS = ["time", "recorded", "repaired", "fill", "residual", "figure", "round", "centres", "axes", "corners", "force", "pressure"];
const FILLED = [1, 2, 3]; // codes of repair: a gap was filled

const state = { session: "", name: "", trial: null, curves: null, frame: 0, side: "left", marker: "", playing: false, asked: null, number: 0, dots: [] };
const scene = new Scene(document.querySelector("#scene canvas"), pick);
const line = new TimeLine(byId("line"), {
  go: (seconds) => { pause(); goTo(seconds); },
  move: (event, seconds) => corrections.add(`move_${event.name}`, { side: event.side, time_s: event.time, to_s: seconds }),
});
const corrections = new Corrections({ state, ask, say, save, load: loadTrial, nearestEvent });

// --- asking the server -------------------------------------------------------------------------------------------------

async function post(path, body, signal) {
  const headers = { "Content-Type": "application/json" };
  let answer;
  try {
    answer = await fetch(path, { method: "POST", headers, body: JSON.stringify(body), signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("gaitlab view does not answer; is it still running?");
  }
  const content = answer.headers.get("Content-Type")?.startsWith("application/json") ? await answer.json() : { error: await answer.text() };
  if (!answer.ok) throw new Error(content.error);
  return content;
}

// Return the answer; null if a newer request of this window has replaced this one.
async function ask(path, body, words) {
  state.asked?.abort();
  const mine = new AbortController();
  state.asked = mine;
  busy(words);
  try {
    const answer = await post(path, { ...body, window: WINDOW, number: ++state.number }, mine.signal);
    return state.asked === mine ? answer : null;
  } catch (error) {
    if (state.asked !== mine || error.name === "AbortError") return null;
    throw error;
  } finally {
    if (state.asked === mine) { state.asked = null; busy(""); }
  }
}

// Writing is never replaced, and waits for no computation; nothing else can be asked until it is done.
async function save(path, body) {
  busy("Saving …");
  try { return await post(path, body); } finally { busy(""); }
}

function busy(words) {
  const shown = byId("busy");
  shown.textContent = words;
  shown.classList.toggle("on", Boolean(words));
  document.body.setAttribute("aria-busy", String(Boolean(words)));
  corrections.wait(Boolean(words));
}

function say(words, isError = false) {
  byId("message").hidden = !words;
  byId("message").classList.toggle("error", isError);
  document.querySelector("#message span").textContent = words;
}

function report(error) { say(error.message, true); }

// --- which trial -------------------------------------------------------------------------------------------------------

async function chooseSession(name, trial = "") {
  say("");
  const answer = await ask("/session", { session: name }, `Reading ${name} …`).catch((error) => {
    byId("session").value = state.session || name;
    throw error;
  });
  if (!answer) return;
  state.session = name;
  const about = ({ role, rejected }) => (rejected ? " (rejected)" : role === "gait" ? "" : ` (${role})`);
  byId("trial").replaceChildren(...answer.trials.map((one) => new Option(one.name + about(one), one.name)));
  const lost = answer.trials.filter((one) => one.rejected);
  byId("rejected").hidden = !lost.length;
  document.querySelector("#rejected summary").textContent = `${lost.length} rejected`;
  document.querySelector("#rejected ul").replaceChildren(...lost.map((one) => make("li", {}, `${one.name}: ${one.rejected}`)));
  await chooseTrial(answer.trials.some((one) => one.name === trial) ? trial : byId("trial").value);
}

async function chooseTrial(name) {
  pause();
  say("");
  const answer = await corrections.trialWithDrafts(name, `Reading ${name} …`);
  if (answer) {
    state.name = name;
    byId("trial").value = name;
    history.replaceState(null, "", `#${new URLSearchParams({ session: state.session, trial: name })}`); // for a reload
    state.marker = "";
    const first = answer.curves.cycles.find((one) => one.own);
    if (first) chooseSide(first.side);
    showAnswer(answer, first?.start);
    scene.look("side");
  } else if (state.name) byId("trial").value = state.name;
}

// Show the same trial again with the corrections as they are now.
async function loadTrial(words) {
  const answer = await corrections.trialWithDrafts(state.name, words);
  if (answer) showAnswer(answer, state.trial.time.data[state.frame], true);
  return Boolean(answer);
}

function showAnswer(answer, seconds, keepsView = false) {
  const trial = answer.trial;
  for (const name of ARRAYS) trial[name] = unpack(trial[name]);
  for (const side of Object.keys(trial.soles)) trial.soles[side] = unpack(trial.soles[side]);
  const times = trial.time.data;
  trial.frameAt = (at) => {
    const rate = (times.length - 1) / (times.at(-1) - times[0] || 1);
    return Math.min(times.length - 1, Math.max(0, Math.round((at - times[0]) * rate)));
  };
  trial.nearest = (at) => Number(times[trial.frameAt(at)].toFixed(3));
  state.trial = trial;
  state.curves = { ...answer.curves, curves: unpack(answer.curves.curves) };
  for (const panel of state.curves.panels) panel.norm &&= unpack(panel.norm);
  if (!keepsView) [axis.from, axis.to] = [times[0], times.at(-1) || 1];
  document.querySelector("#picked select").replaceChildren(new Option("click one", ""), ...namesOf(trial).map((one) => new Option(one)));
  listGroups();
  listStances();
  corrections.show(answer, trial);
  state.frame = trial.frameAt(seconds ?? times[0]);
  scene.show(trial, state.frame);
  line.show(trial);
  drawTimes();
  drawCurves();
  drawNow();
}

function listGroups() {
  const groups = [...new Set(state.curves.panels.map((panel) => panel.group))], chosen = byId("group").value;
  byId("group").replaceChildren(...groups.map((group) => new Option(group)));
  if (groups.includes(chosen)) byId("group").value = chosen;
}

function listStances() {
  const { notes, contacts } = state.trial;
  const lines = notes ? [["refused", "Rejected", notes]] : contacts.map((one) => [
    one.verdict, one.verdict,
    `${one.side}, ${one.start.toFixed(2)} to ${one.end.toFixed(2)} s${one.plates ? `, plate ${one.plates}` : ""}${one.why && one.verdict !== "not on a plate" ? `: ${one.why}` : ""}`,
  ]);
  byId("stances").replaceChildren(...lines.map(([kind, verdict, words]) => make("li", {}, make("b", { className: kind.split(" ")[0] }, verdict), ` ${words}`)));
}

// --- which frame -------------------------------------------------------------------------------------------------------

function goTo(seconds) {
  if (!state.trial) return;
  state.frame = state.trial.frameAt(seconds);
  const now = state.trial.time.data[state.frame], span = axis.to - axis.from;
  if (now < axis.from || now > axis.to) {
    axis.from = Math.max(state.trial.time.data[0], now - span / 2);
    axis.to = axis.from + span;
    drawTimes();
  }
  scene.go(state.frame);
  drawNow();
}

function drawNow() {
  const now = state.trial.time.data[state.frame];
  byId("now").textContent = `${now.toFixed(3)} s (${state.frame + 1}/${state.trial.time.data.length})`;
  line.now = now;
  for (const svg of document.querySelectorAll("#time svg")) moveNow(svg, now);
  if (cycleNow() !== state.cycle) drawCurves();
  const { start, end } = state.cycle || {};
  for (const moveDot of state.dots) moveDot((100 * (now - start)) / (end - start));
}

function step(frames) {
  pause();
  if (state.trial) goTo(state.trial.time.data[Math.min(state.trial.time.data.length - 1, Math.max(0, state.frame + frames))]);
}

function toEvent(direction) {
  pause();
  const now = state.trial.time.data[state.frame];
  const others = state.trial.events.filter((one) => (one.time - now) * direction > 0.006);
  const next = direction > 0 ? others[0] : others.at(-1);
  if (next) { line.choose(next); goTo(next.time); }
}

// The chosen event, else the nearest one within 0.15 s.
function nearestEvent() {
  const now = state.trial.time.data[state.frame], away = (one) => Math.abs(one.time - now);
  return line.chosen || [...state.trial.events].sort((a, b) => away(a) - away(b)).find((one) => away(one) < 0.15) || null;
}

function play() {
  if (state.playing || !state.trial) return pause();
  state.playing = true;
  byId("play").textContent = "Pause";
  let last = performance.now(), now = state.trial.time.data[state.frame];
  const next = (clock) => {
    if (!state.playing) return;
    if (state.trial.frameAt(now) !== state.frame) now = state.trial.time.data[state.frame]; // a person went elsewhere
    now += ((clock - last) / 1000) * Number(byId("speed").value);
    last = clock;
    if (now > state.trial.time.data.at(-1)) now = state.trial.time.data[0];
    goTo(now);
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
}

function pause() {
  state.playing = false;
  byId("play").textContent = "Play";
}

// --- graphs and curves -------------------------------------------------------------------------------------------------

function drawTimes() {
  if (!state.trial) return;
  axis.width = byId("line").clientWidth;
  line.draw();
  const { trial } = state, time = trial.time.data;
  const lines = trial.plates.map((_, plate) => ({ values: Array.from(time, (_, i) => trial.force.get(i, plate, 1)), kind: "" }));
  const inContact = trial.contacts.flatMap(({ plates, side, start, end }) => plates.split(" ").filter(Boolean).map((number) => (
    { values: lines[trial.plates.indexOf(Number(number))]?.values || [], kind: side, from: start, to: end })));
  overTime(byId("force"), time, { title: trial.plates.length ? "Vertical force of each plate, N" : "No force plate is in this recording.", lines: [...lines, ...inContact] });
  drawMarker();
  for (const svg of document.querySelectorAll("#time svg")) moveNow(svg, time[state.frame]);
}

function pick(marker) {
  state.marker = marker;
  scene.picked = marker;
  scene.draw();
  corrections.pick(marker);
  drawTimes();
}

function drawMarker() {
  const place = byId("of-marker"), { trial, marker } = state, time = trial.time.data;
  place.replaceChildren();
  const recorded = trial.marker.indexOf(marker), landmark = trial.landmark.indexOf(marker);
  document.querySelector("#picked select").value = marker;
  if (recorded < 0 && landmark < 0) return;
  const values = (array, i, ...more) => Array.from(time, (_, frame) => (i < 0 || !array.shape[1] ? NaN : 1000 * array.get(frame, i, ...more)));
  const marks = [
    ...(recorded < 0 ? [] : spans(time, (i) => !Number.isFinite(trial.recorded.get(i, recorded, 0)), "gap")),
    ...(landmark < 0 ? [] : spans(time, (i) => FILLED.includes(trial.fill.get(i, landmark)), "filled")),
  ];
  const count = (kind) => marks.filter((one) => one.kind === kind).reduce((sum, one) => sum + one.frames, 0);
  place.append(make("p", {}, `Line: repaired and filtered; pale: as recorded; ${count("gap")} frames not seen (red), ${count("filled")} filled (yellow)`));
  const graph = (options) => overTime(element(place, "svg"), time, options);
  ["x, forward", "y, up", "z, right"].forEach((words, k) => graph({
    title: `${marker} ${words}, mm`, marks,
    lines: [{ values: values(trial.recorded, recorded, k), kind: "" }, { values: values(trial.repaired, landmark, k), kind: "strong" }],
  }));
  const residual = values(trial.residual, landmark);
  if (residual.some(Number.isFinite)) graph({ title: `${marker}: distance from its place in the linked legs, mm`, marks, lines: [{ values: residual, kind: "strong" }] });
}

// The spans of frames for which something holds.
function spans(time, holds, kind) {
  const found = [], half = (time[1] - time[0] || 0) / 2;
  for (let i = 0; i < time.length; i++) {
    if (!holds(i)) continue;
    let last = i;
    while (last + 1 < time.length && holds(last + 1)) last++;
    found.push({ from: time[i] - half, to: time[last] + half, kind, frames: last - i + 1 });
    i = last;
  }
  return found;
}

function cycleNow() {
  const now = state.trial.time.data[state.frame], away = (one) => Math.max(one.start - now, now - one.end, 0);
  const own = state.curves.cycles.filter((one) => one.own && one.side === state.side);
  return own.sort((a, b) => away(a) - away(b))[0] || null;
}

function drawCurves() {
  const place = document.querySelector("#curves div"), { cycles, panels, curves } = state.curves;
  place.replaceChildren();
  state.cycle = cycleNow();
  state.dots = [];
  if (!state.cycle) { place.textContent = `No ${state.side} gait cycle in this trial.`; return; }
  const number = cycles.indexOf(state.cycle);
  const others = cycles.flatMap((one, i) => (one.side === state.side && i !== number ? [i] : []));
  panels.forEach((panel, p) => {
    if (panel.group !== byId("group").value) return;
    const curve = (cycle) => Array.from({ length: 101 }, (_, i) => curves.get(p, cycle, i));
    if (curve(number).some(Number.isFinite)) state.dots.push(overCycle(place, panel, { cycle: curve(number), others: others.map(curve), side: state.side }));
  });
  if (!state.dots.length) place.textContent = "No curves of this kind: see the reason beside the stances.";
  const now = state.trial.time.data[state.frame], { start, end } = state.cycle;
  for (const moveDot of state.dots) moveDot((100 * (now - start)) / (end - start));
}

function zoom(factor) {
  if (!state.trial) return;
  const times = state.trial.time.data, now = times[state.frame], whole = times.at(-1) - times[0];
  const span = factor ? Math.min(whole, Math.max(0.2, (axis.to - axis.from) * factor)) : whole;
  axis.from = Math.min(times.at(-1) - span, Math.max(times[0], now - ((now - axis.from) * span) / (axis.to - axis.from)));
  axis.to = axis.from + span;
  drawTimes();
}

// --- controls and keys -------------------------------------------------------------------------------------------------

function chooseSide(side) {
  state.side = side;
  for (const select of document.querySelectorAll("select.side")) select.value = side;
  if (state.trial) drawCurves();
}

function otherTrial(by) {
  const names = Array.from(byId("trial").options, (option) => option.value);
  chooseTrial(names[(names.indexOf(state.name) + by + names.length) % names.length]).catch(report);
}

const KEYS = {
  " ": play, ArrowRight: (shift) => step(shift ? 10 : 1), ArrowLeft: (shift) => step(shift ? -10 : -1),
  PageDown: () => toEvent(1), PageUp: () => toEvent(-1), n: () => otherTrial(1), p: () => otherTrial(-1),
  "+": () => zoom(0.5), "-": () => zoom(2), 0: () => zoom(0),
  ...Object.fromEntries(Object.keys(VIEWS).map((view, i) => [i + 1, () => scene.look(view)])),
};

function control() {
  byId("session").addEventListener("change", (event) => chooseSession(event.target.value).catch(report));
  byId("trial").addEventListener("change", (event) => chooseTrial(event.target.value).catch(report));
  for (const select of document.querySelectorAll("select.side")) select.addEventListener("change", () => chooseSide(select.value));
  const clicks = { play, back: () => step(-1), on: () => step(1), "zoom-in": () => zoom(0.5), "zoom-out": () => zoom(2), "zoom-all": () => zoom(0) };
  for (const [id, action] of Object.entries(clicks)) byId(id).addEventListener("click", action);
  byId("group").addEventListener("change", drawCurves);
  document.querySelector("#picked select").addEventListener("change", (event) => pick(event.target.value));
  byId("follow").addEventListener("change", (event) => { scene.follow = event.target.checked; });
  document.querySelector("#message button").addEventListener("click", () => say(""));
  byId("views").append(...Object.keys(VIEWS).map((view) => make("button", { onclick: () => scene.look(view) }, view)));
  document.querySelector("#layers div").append(...Object.keys(scene.layers).map((layer) => {
    const onchange = (event) => { scene.layers[layer] = event.target.checked; scene.draw(); };
    return make("label", {}, make("input", { type: "checkbox", checked: scene.layers[layer], onchange }), ` ${layer}`);
  }));
  for (const place of [byId("force"), byId("of-marker")]) place.addEventListener("pointerdown", (event) => {
    pause();
    goTo(axis.seconds(event.clientX - place.getBoundingClientRect().left));
  });
  document.addEventListener("keydown", (event) => {
    const undoes = (event.ctrlKey || event.metaKey) && event.key === "z", typed = event.target.closest("input:not([type=checkbox]), select, summary");
    if (event.key === "Escape") return giveUp();
    if (event.altKey || typed || ((event.ctrlKey || event.metaKey) && !undoes)) return;
    const key = undoes ? "u" : event.key.toLowerCase(), action = KEYS[event.key] || KEYS[key] || corrections.keys[key];
    if (!action || (event.key === " " && event.target.closest("button, input"))) return;
    event.preventDefault();
    if (state.trial) action(event.shiftKey);
  });
  // a list that was chosen from with the mouse leaves the keys to the time line
  let byMouse = false;
  for (const kind of ["pointerdown", "keydown"]) document.addEventListener(kind, () => { byMouse = kind === "pointerdown"; }, true);
  document.addEventListener("change", ({ target }) => { if (byMouse && target.matches("select:not(#correct *)")) target.blur(); });
  new ResizeObserver(drawTimes).observe(byId("line"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawTimes);
}

function giveUp() {
  if (line.held) return line.giveUp();
  if (corrections.tried && !corrections.waiting) corrections.giveUp();
  say("");
  document.activeElement.blur();
}

async function start() {
  control();
  const study = await ask("/study", {}, "Reading the study …");
  document.title = `${study.name} – gaitlab view`;
  corrections.offer(study.kinds);
  byId("session").replaceChildren(...study.sessions.map((name) => new Option(name)));
  const last = new URLSearchParams(location.hash.slice(1)), session = last.get("session");
  await chooseSession(study.sessions.includes(session) ? session : study.sessions[0], last.get("trial"));
}

start().catch(report);
