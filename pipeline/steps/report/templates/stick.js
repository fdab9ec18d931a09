// The stick figure: a walk as SVG lines, with playback and rotation. Lengths in mm; lab x forward, y up, z right.
(() => {
  const GRID = 250;
  const [HEAD, MASS] = [95, 30]; // radius of head and centre of mass
  const radians = (degrees) => (degrees * Math.PI) / 180;
  const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;

  // Project from lab to picture: from the right at turn 0, from the front at 90; tilt raises the viewpoint.
  function projection(turn, tilt, centre) {
    const [st, ct, sp, cp] = [Math.sin(radians(turn)), Math.cos(radians(turn)), Math.sin(radians(tilt)), Math.cos(radians(tilt))];
    return ([x, y, z]) => {
      const [dx, dz] = [x - centre[0], z - centre[1]];
      return [dx * ct - dz * st, -(y * cp - (dx * st + dz * ct) * sp)];
    };
  }

  const line = (a, b) => `M${a[0].toFixed(0)} ${a[1].toFixed(0)}L${b[0].toFixed(0)} ${b[1].toFixed(0)}`;

  function floor(centre, reach, at) {
    const from = (c) => Math.ceil((c - reach) / GRID) * GRID;
    let d = "";
    for (let x = from(centre[0]); x <= centre[0] + reach; x += GRID) d += line(at([x, 0, centre[1] - reach]), at([x, 0, centre[1] + reach]));
    for (let z = from(centre[1]); z <= centre[1] + reach; z += GRID) d += line(at([centre[0] - reach, 0, z]), at([centre[0] + reach, 0, z]));
    return d;
  }

  function arrow(from, to) {
    const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
    const head = Math.min(45, Math.hypot(dx, dy)) / (Math.hypot(dx, dy) || 1);
    const [bx, by] = [to[0] - dx * head, to[1] - dy * head];
    return line(from, to) + line([bx - dy * head / 2.5, by + dx * head / 2.5], to) + line([bx + dy * head / 2.5, by - dx * head / 2.5], to);
  }

  // A circle, or two quarters of it, the sign of a centre of mass.
  const circle = ([x, y], r) => `M${(x - r).toFixed(0)} ${y.toFixed(0)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
  const quarters = ([x, y], r) => [r, -r].map((s) => `M${x.toFixed(0)} ${y.toFixed(0)}h${s}a${r} ${r} 0 0 0 ${-s} ${-s}z`).join("");

  function paths(svg, names) {
    return Object.fromEntries(names.map((name) => {
      const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
      path.setAttribute("class", name);
      svg.append(path);
      return [name, path];
    }));
  }

  async function play(walk) {
    const { scene } = await dataOf(walk.querySelector("script"));
    const { time, points, bones, forces, cycles, round = {} } = scene;
    const control = (name) => walk.querySelector(`[data-do=${name}]`);
    const [button, slider, turn, tilt, speed, view] = ["play", "time", "turn", "tilt", "speed", "view"].map(control);
    const svg = walk.querySelector(".scene");
    const shape = paths(svg, ["floor", "pelvis", "head", "left", "right", "left force", "right force", "mass", "quarters"]);
    const tallest = Math.max(1, ...points.flat().map((point) => point[1] ?? 0));
    const strongest = Math.max(1, ...Object.values(forces).flatMap(({ force }) => force.map((f) => (f ? Math.hypot(...f) : 0))));
    const perForce = (0.85 * tallest) / strongest;
    svg.setAttribute("viewBox", `${-tallest} ${-1.25 * tallest} ${2 * tallest} ${1.6 * tallest}`);

    function instant(frame) {
      const known = Object.entries(cycles).map(([side, [start, end]]) => {
        const share = Math.round((100 * (time[frame] - start)) / (end - start));
        return share >= 0 && share <= 100 ? `, ${side} ${share} % of its cycle` : "";
      });
      return `${(time[frame] - time[0]).toFixed(2)} s${known.join("")}`;
    }

    function draw() {
      const frame = Number(slider.value);
      const here = points[frame].filter((point) => point[0] !== null);
      const centre = here.length ? [mean(here.map((p) => p[0])), mean(here.map((p) => p[2]))] : [0, 0];
      const at = projection(Number(turn.value), Number(tilt.value), centre);
      shape.floor.setAttribute("d", floor(centre, 1.2 * tallest, at));
      for (const [name, pairs] of Object.entries(bones)) {
        const seen = pairs.filter((pair) => pair.every((i) => points[frame][i][0] !== null));
        shape[name].setAttribute("d", seen.map(([a, b]) => line(at(points[frame][a]), at(points[frame][b]))).join(""));
      }
      const [head, mass] = ["head", "centre of mass"].map((name) => points[frame][round[name]]).map((point) => (point && point[0] !== null ? at(point) : null));
      shape.head.setAttribute("d", head ? circle(head, HEAD) : "");
      shape.mass.setAttribute("d", mass ? circle(mass, MASS) : "");
      shape.quarters.setAttribute("d", mass ? quarters(mass, MASS) : "");
      for (const [side, { at: from, force }] of Object.entries(forces)) {
        const tip = force[frame] && from[frame].map((x, i) => x + perForce * force[frame][i]);
        shape[`${side} force`].setAttribute("d", tip ? arrow(at(from[frame]), at(tip)) : "");
      }
      walk.querySelector(".instant").textContent = instant(frame);
      slider.setAttribute("aria-valuetext", instant(frame));
    }

    let running = false, clock = 0, last = 0;
    function run(now) {
      if (!running) return;
      clock += ((now - last) / 1000) * Number(speed.value);
      last = now;
      const span = time.at(-1) - time[0];
      const wanted = time[0] + (span > 0 ? clock % span : 0);
      slider.value = Math.max(0, time.findLastIndex((t) => t <= wanted));
      draw();
      requestAnimationFrame(run);
    }
    function toggle(on) {
      running = on;
      button.textContent = on ? "Pause" : "Play";
      button.setAttribute("aria-pressed", on);
      clock = time[slider.value] - time[0];
      last = performance.now();
      if (on) requestAnimationFrame(run);
    }

    slider.max = time.length - 1;
    slider.value = Math.floor(time.length / 3);
    button.addEventListener("click", () => toggle(!running));
    slider.addEventListener("input", () => { toggle(false); draw(); });
    for (const angle of [turn, tilt]) angle.addEventListener("input", draw);
    view.addEventListener("change", () => { [turn.value, tilt.value] = view.value.split(" "); draw(); });
    svg.addEventListener("pointermove", (event) => {
      if (!event.buttons) return;
      turn.value = Number(turn.value) - event.movementX / 2;
      tilt.value = Number(tilt.value) + event.movementY / 2;
      draw();
    });
    draw();
  }

  for (const walk of document.querySelectorAll(".walk")) figures.whenOpen(walk, () => play(walk));
})();
