// The panels: mean curves with bands and single curves per side and line, marks at the edge of the axis, what to show.
(() => {
  const { colour, plain, number, layout, percentOf, show, redraw, whenOpen } = figures;
  const MARKS = [5, 15, 25, 35, 45, 55, 65, 75, 85, 95]; // percent at which circles tell left from right without colour
  const boxes = [...document.querySelectorAll("[data-hides]")];
  const hidden = new Set(boxes.filter((box) => !box.checked).map((box) => box.dataset.hides));
  const shown = (what) => !hidden.has(what);
  const named = (curve) => plain(`${curve.side}, ${curve.line}`);
  const lines = boxes.map((box) => box.dataset.hides).filter((what) => what.startsWith("line "));
  // As a class: a rule of the style sheet with :has() looks through the page at each of its changes.
  const setApart = () => document.querySelector(".figures")?.classList.toggle("apart", boxes.some((box) => box.dataset.hides === "apart" && box.checked));
  setApart();
  const OF_AXES = { left: ["x", [0, 0.48]], right: ["x2", [0.52, 1]] };
  const WITH_DIFFERENCE = { left: ["x", [0, 0.26]], right: ["x2", [0.74, 1]], difference: ["x3", [0.41, 0.66]] };

  // The outline of mean +- sd, one for each run of known samples.
  function outline({ mean, sd }) {
    const x = [], y = [];
    for (let i = 0; i < sd.length; ) {
      const run = [];
      for (; i < sd.length && sd[i] !== null; i++) run.push(i);
      i++;
      if (!run.length) continue;
      const back = [...run].reverse();
      x.push(...run, ...back, null);
      y.push(...run.map((j) => mean[j] + sd[j]), ...back.map((j) => mean[j] - sd[j]), null);
    }
    return { x, y };
  }

  function band(curve, fillcolor) {
    if (curve.sd.every((value) => value === null)) return [];
    return [{ ...outline(curve), mode: "lines", line: { width: 0 }, fill: "toself", fillcolor, hoverinfo: "skip", showlegend: false, xaxis: curve.axis }];
  }

  const within = (band, i) => (band && band[0][i] !== null ? `; errors ${number(band[0][i])} to ${number(band[1][i])}` : "");
  const spread = (curve, i) => (curve.sd[i] === null ? "" : ` \u00b1 ${number(curve.sd[i])}`) + within(curve.band, i);
  const readings = (curve, ending) => curve.mean.map((value, i) => (value === null ? "" : number(value) + spread(curve, i) + ending(i)));
  const countAt = (curve) => (i) => ` (n ${curve.counts ? curve.counts[i] : curve.n})`;

  function reference(curve) {
    const line = { color: colour("quiet"), width: 1 };
    const mean = { y: curve.mean, x0: 0, dx: 1, mode: "lines", line, name: curve.name, text: readings(curve, () => ""), hovertemplate: "%{text}", xaxis: curve.axis };
    return [...band(curve, `${colour("quiet")}3a`), mean];
  }

  // The single curves of one mean as one line with gaps; each has its label.
  function singles(curve, { step, labels, curves }) {
    const x = curves.flatMap((values) => [...values.map((_, i) => (100 * i) / (values.length - 1)), null]);
    const y = curves.flatMap((values) => [...values.map((value) => (value === null ? null : value * step)), null]);
    const text = curves.flatMap((values, i) => Array(values.length + 1).fill(plain(labels[i])));
    const line = { color: `${curve.tint}90`, dash: curve.dash || "solid", width: 0.8 };
    return { x, y, text, mode: "lines", line, name: named(curve), hovertemplate: "%{text}", showlegend: false, xaxis: curve.axis };
  }

  function traces(curve, single) {
    const line = { color: curve.tint, dash: curve.dash || "solid", width: 2 };
    const circles = { symbol: "circle", size: 6, color: colour("paper"), line: { color: curve.tint, width: 1.5 } };
    const mean = {
      y: curve.mean, x0: 0, dx: 1, mode: "lines", line, name: named(curve), text: readings(curve, countAt(curve)), hovertemplate: "%{text}",
      showlegend: false, xaxis: curve.axis,
    };
    const marks = { x: MARKS, y: MARKS.map((at) => curve.mean[at]), mode: "markers", marker: circles, hoverinfo: "skip", showlegend: false, xaxis: curve.axis };
    const legend = { x: [null], y: [null], line, name: `${named(curve)} (n ${curve.n})`, hoverinfo: "skip" };
    const left = curve.side === "left";
    return [
      ...band(curve, `${line.color}2e`), ...(single ? [singles(curve, single)] : []), ...(hidden.has("errors") || !curve.band ? [] : curve.band.map(edge)),
      mean, ...(left ? [marks] : []), left ? { ...legend, mode: "lines+markers", marker: circles } : { ...legend, mode: "lines" },
    ];

    function edge(y) {
      return { y, x0: 0, dx: 1, mode: "lines", line: { color: line.color, dash: "dot", width: 1 }, hoverinfo: "skip", showlegend: false, xaxis: curve.axis };
    }
  }

  const footOff = (curve) => ({
    type: "line", xref: curve.axis, x0: curve.foot_off, x1: curve.foot_off, yref: "paper", y0: 0, y1: 1, layer: "below",
    line: { color: curve.tint, dash: curve.dash || "solid", width: 1 },
  });

  const circleOnTop = (curve) => ({
    xref: curve.axis, x: curve.foot_off, y: 1, yref: "paper", text: "\u25cb", showarrow: false, font: { color: curve.tint, size: 9 },
  });

  // n from each percent at which it changes along a mean for 6 % or more, as there is no room for more, at the bottom, a
  // row for each curve. The readings have every n.
  const lasts = (n, at) => n[at] !== (n[at - 1] ?? 0) && n.slice(at, at + 6).every((one) => one === n[at]);
  const counts = ({ counts: n, axis, tint }, row) => (n ?? []).map((_, at) => at).filter((at) => lasts(n, at)).map((at) => ({
    xref: axis, x: at, y: 0.07 * row, yref: "paper", text: `n ${n[at]}`, showarrow: false, xanchor: "left", yanchor: "bottom", borderpad: 0, font: { color: tint, size: 10 },
  }));

  // Bars at the bottom while a muscle is active, a row for each curve.
  const active = (curve, row) => (curve.active ?? []).map(([from, to]) => ({
    type: "rect", xref: curve.axis, x0: from, x1: to, yref: "paper", y0: 0.035 * row, y1: 0.035 * row + 0.025, line: { width: 0 }, fillcolor: curve.tint,
  }));

  // Triangles where a mean is beyond its axis, and words with its farthest value, or that of its band or single curves.
  function beyond(curve, single, [low, high]) {
    const excess = ([value]) => Math.max(value - high, low - value);
    const outside = (points) => points.filter((point) => excess(point) > 0);
    const farthest = (points) => points.reduce((far, next) => (excess(next) > excess(far) ? next : far));
    const to = (points) => { const [value, at] = farthest(points); return `to ${number(value)} at ${number(at)} %`; };
    const triangles = (points, edge, direction) => ({
      x: points.map(([, at]) => at), y: points.map(() => edge), mode: "markers", hoverinfo: "skip", showlegend: false, cliponaxis: false, xaxis: curve.axis,
      marker: { symbol: `triangle-${direction}`, size: 8, color: curve.tint, maxdisplayed: 12 },
    });
    const name = `${curve.side}, ${curve.line}`;
    const known = curve.mean.map((value, at) => [value, at]).filter(([value]) => value !== null);
    const mean = outside(known);
    if (mean.length) {
      const [above, below] = [mean.filter(([value]) => value > high), mean.filter(([value]) => value < low)];
      const marks = [[above, high, "up"], [below, low, "down"]].filter(([points]) => points.length).map((args) => triangles(...args));
      return { marks, words: [`${name}${mean.length === known.length ? " wholly," : ""} ${to(mean)}`] };
    }
    const band = outside(known.flatMap(([value, at]) => [[value + curve.sd[at], at], [value - curve.sd[at], at]]));
    const { x, y } = single ? singles(curve, single) : { y: [] };
    const cycles = outside(y.map((value, i) => [value, x[i]]).filter(([value]) => value !== null));
    const parts = [["band", band], ["single", cycles]].filter(([, points]) => points.length);
    return { marks: [], words: parts.map(([what, points]) => `${name}, ${what} ${to(points)}`) };
  }

  const isShown = (curve) => shown(`side ${curve.side}`) && shown(`line ${curve.line}`);

  // The later of two lines of a side minus the earlier one, of one condition if there are such, and how far two visits of
  // an unchanged person are apart in 95 of 100; if no curve of the page has that, how far cycles alone let the means be.
  function change({ curves, detectable }, side) {
    const [before, ...later] = curves.filter((curve) => curve.side === side && isShown(curve));
    const after = later.find((curve) => curve.condition === before.condition) ?? later[0];
    if (!after) return null;
    const known = (i) => before.mean[i] !== null && after.mean[i] !== null;
    const mean = before.mean.map((value, i) => (known(i) ? after.mean[i] - value : null));
    const ofCycles = (i) => (before.sd[i] === null || after.sd[i] === null ? null : 1.96 * Math.hypot(before.sd[i] / before.n ** 0.5, after.sd[i] / after.n ** 0.5));
    const limit = detectable?.find((one) => one.side === side && one.condition === before.condition && one.condition === after.condition);
    const sd = mean.map((value, i) => (value === null ? null : detectable ? (limit?.change[i] ?? null) : ofCycles(i)));
    return { mean, sd, limit, name: plain(`${side}, ${after.line} minus ${before.line}`) };
  }

  function difference(figure, side, axis) {
    const found = change(figure, side);
    if (!found) return [];
    const { mean, sd, limit, name } = found;
    const line = { color: colour(side), width: 2 };
    const around = band({ mean: mean.map(() => 0), sd, axis }, `${line.color}30`).map((one) => ({ ...one, yaxis: "y2" }));
    const text = mean.map((value, i) => (value === null ? "" : number(value) + (limit && sd[i] !== null ? `, ${Math.abs(value) > sd[i] ? "beyond" : "within"} ${number(sd[i])}` : "")));
    return [...around, { y: mean, x0: 0, dx: 1, mode: "lines", line, name, text, xaxis: axis, yaxis: "y2", showlegend: false, hovertemplate: "%{text}" }];
  }

  // One scale around zero for the differences of all panels of a group and unit, so that they can be compared by eye.
  function scaleOf(figures, { group, unit }) {
    const same = figures.filter((one) => one.group === group && one.unit === unit);
    const changes = same.flatMap((one) => ["left", "right"].map((side) => change(one, side))).filter(Boolean);
    const farthest = Math.max(...changes.flatMap(({ mean, sd }) => [...mean, ...sd]).map((value) => Math.abs(value ?? 0)));
    return farthest > 0 ? [-1.05 * farthest, 1.05 * farthest] : null;
  }

  // Sides in one place in their colours, or apart, each line in its own, with the difference of two lines between them.
  const content = (figure, single, { first, compares, figures: every }) => () => {
    const apart = !first && lines.length > 1 && boxes.some((box) => box.dataset.hides === "apart") && shown("apart");
    const axes = apart ? (compares ? WITH_DIFFERENCE : OF_AXES) : { left: ["x", [0, 1]] };
    const placed = (curve) => ({
      ...curve, axis: apart ? axes[curve.side][0] : "x", tint: colour(apart ? `line-${1 + (lines.indexOf(`line ${curve.line}`) % 6)}` : curve.side),
    });
    const curves = figure.curves.map((curve, i) => ({ curve: placed(curve), single: shown("single") || curve.n === 2 ? single[i] : null }))
      .filter(({ curve }) => isShown(curve));
    const normal = shown("reference") ? figure.reference.filter(({ lines }) => lines.some((line) => shown(`line ${line}`))) : [];
    const grey = Object.entries(axes).filter(([side]) => side !== "difference").flatMap(([, [axis]]) => normal.map((one) => ({ ...one, axis }))).flatMap(reference);
    const limits = shown("axes") && figure.limits;
    const off = curves.map(({ curve }) => curve).filter((curve) => curve.foot_off !== null);
    const out = limits ? curves.map(({ curve, single }) => beyond(curve, single, limits)) : [];
    const between = axes.difference ? ["left", "right"].flatMap((side) => difference(figure, side, "x3")) : [];
    const ordinate = { title: `${plain(figure.unit)}<br>${plain(figure.sign)}`, ...(limits ? { range: [...limits] } : {}) };
    const [x, ...others] = Object.entries(axes).map(([side, [axis, domain]]) => ({ ...percentOf(apart ? `${side}, %` : figure.over), ...(apart ? { dtick: 50, ticksuffix: "" } : {}), domain, axis }));
    const drawn = [...grey, ...curves.flatMap(({ curve, single }) => traces(curve, single)), ...out.flatMap(({ marks }) => marks)];
    const ofRight = (trace) => (axes.difference && trace.xaxis === axes.right[0] ? { ...trace, yaxis: "y3" } : trace);
    return {
      data: [...drawn.map(ofRight), ...between],
      layout: layout({
        x, y: ordinate, others,
        difference: between.length ? { title: `difference, ${plain(figure.unit)}`, range: shown("axes") ? scaleOf(every, figure) : null } : null,
        hovermode: shown("single") ? "closest" : "x unified",
        shapes: [...off.map(footOff), ...curves.flatMap(({ curve }, row) => active(curve, row))],
        annotations: [...off.filter((curve) => curve.side === "left").map(circleOnTop), ...curves.flatMap(({ curve }, row) => counts(curve, row))],
      }),
      notes: out.flatMap(({ words }) => words),
    };
  };

  const sets = new Map([...document.querySelectorAll("script.curves")].map((script) => [script.id, dataOf(script)]));
  for (const panels of document.querySelectorAll(".panels")) {
    whenOpen(panels, async () => {
      const { means, single } = await sets.get(panels.dataset.over);
      const kind = { first: panels.classList.contains("first"), compares: "compares" in panels.dataset, figures: means };
      for (const plot of panels.querySelectorAll(".plot")) show(plot, content(means[plot.dataset.figure], single[plot.dataset.figure], kind));
    });
  }
  for (const box of boxes) {
    box.addEventListener("change", () => { hidden[box.checked ? "delete" : "add"](box.dataset.hides); setApart(); redraw(); });
  }
})();
