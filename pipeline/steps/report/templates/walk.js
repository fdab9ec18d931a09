// The shown walk: force vectors of a step, and contributions to a joint moment as stacked areas.
(() => {
  const { colour, plain, number, layout, percentOf, show, whenOpen } = figures;
  const METRES_PER_FORCE = 0.06; // length of 1 N/kg along the floor's axis, so that vectors keep their direction

  function vectors(step, side) {
    const tips = step.at.map((x, i) => x + METRES_PER_FORCE * step.forward[i]);
    const x = step.at.flatMap((from, i) => [from, tips[i], null]);
    const y = step.upward.flatMap((up) => [0, up, null]);
    const text = step.phase.map((p, i) => `${p} %: up ${number(step.upward[i])}, forward ${number(step.forward[i])} N/kg`);
    return [
      { x, y, mode: "lines", line: { color: `${colour(side)}90`, width: 1 }, hoverinfo: "skip", showlegend: false },
      { x: tips, y: step.upward, mode: "lines", line: { color: colour(side), width: 2 }, text, hovertemplate: "%{text}<extra></extra>", showlegend: false },
    ];
  }

  // Both sides on the same scales.
  function butterfly(steps, side) {
    const known = Object.values(steps).filter(Boolean);
    const across = known.flatMap(({ at, forward }) => at.flatMap((from, i) => [from, from + METRES_PER_FORCE * forward[i]]));
    const ends = (values) => [Math.min(...values) - 0.05, Math.max(...values) + 0.05];
    return () => ({
      data: vectors(steps[side], side),
      layout: layout({
        x: { title: "centre of pressure, m", zeroline: false, range: ends(across) },
        y: { title: "force, N/kg", range: [0, 1.05 * Math.max(...known.flatMap(({ upward }) => upward))] }, hovermode: "closest",
      }),
    });
  }

  // Areas above and below zero are stacked separately, so that parts of opposite sign do not hide one another.
  function areas(name, values, fillcolor, i) {
    const half = (stackgroup, keep) => ({
      x0: 0, dx: 1, y: values.map((value) => (value === null ? null : keep(value, 0))), stackgroup, mode: "lines",
      line: { width: 0 }, fillcolor, name, legendgroup: name, showlegend: stackgroup === "up", legendrank: i, hoverinfo: "skip",
    });
    return [half("up", Math.max), half("down", Math.min)];
  }

  function parts({ names, parts, total }, unit, joint, angle) {
    const own = parts.map((part) => part[joint][angle]);
    const sum = total[joint][angle];
    const known = sum.map((value, p) => [Math.abs(value ?? 0), p]);
    const [top, at] = known.reduce((best, next) => (next[0] > best[0] ? next : best));
    const decimals = Math.max(0, 2 - Math.floor(Math.log10(top || 1))); // three digits of the largest
    const short = (value) => (Number(value.toFixed(decimals)) || 0).toFixed(decimals).replace("-", "\u2212");
    const reading = (p, between) => names.map((name, i) => `${name} ${short(own[i][p])}`).join(between);
    const text = sum.map((value, p) => (value === null ? "" : `${p} %: ${short(value)} ${unit}<br>${reading(p, "<br>")}`));
    return {
      largest: sum[at] === null ? "Not available in this cycle." : `Largest at ${at} %: ${short(sum[at])} ${unit} = ${reading(at, ", ")}.`,
      data: () => [
        ...own.flatMap((values, i) => areas(names[i], values, colour(`part-${i + 1}`), i)),
        { x0: 0, dx: 1, y: sum, mode: "lines", line: { color: colour("ink"), width: 2 }, name: "sum", text, hovertemplate: "%{text}<extra></extra>" },
      ],
    };
  }

  function showParts(walk, contributions) {
    const chosen = (name) => walk.querySelector(`select[data-do=${name}]`).value;
    const { unit, joints, angles, titles, signs, ...kinds } = contributions[chosen("side")];
    const [joint, angle] = [joints.indexOf(chosen("joint")), angles.indexOf(chosen("angle"))];
    for (const plot of walk.querySelectorAll("[data-parts]")) {
      const { largest, data } = parts(kinds[plot.dataset.parts], unit, joint, angle);
      plot.dataset.title = `${titles[joint][angle]}, ${chosen("side")}, by ${plot.dataset.parts === "terms" ? "term" : "cause of motion"}`;
      walk.querySelector(`[data-largest=${plot.dataset.parts}]`).textContent = largest;
      show(plot, () => ({
        data: data(),
        layout: layout({
          x: percentOf("gait cycle"), y: { title: `${plain(unit)}<br>${plain(signs[joint][angle])}` }, hovermode: "x", showlegend: true, margin: { l: 84, r: 24, t: 86, b: 40 },
          legend: { orientation: "h", x: 0, y: 1, yanchor: "bottom" },
        }),
      }));
    }
  }

  for (const walk of document.querySelectorAll(".walk")) {
    whenOpen(walk, async () => {
      const { steps, contributions } = await dataOf(walk.querySelector("script"));
      for (const plot of walk.querySelectorAll("[data-step]")) {
        plot.dataset.title = `Force vectors of the ${plot.dataset.step} step`;
        show(plot, butterfly(steps, plot.dataset.step));
      }
      const selects = walk.querySelectorAll("select[data-do=side], select[data-do=joint], select[data-do=angle]");
      for (const select of selects) select.addEventListener("change", () => showParts(walk, contributions));
      if (selects.length) showParts(walk, contributions);
    });
  }
})();
