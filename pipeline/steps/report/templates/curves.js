"use strict";
// The panels: mean curves with bands and single curves per side and line, marks at the edge of the axis, what to show.
(() => {
  const { colour, plain, number, layout, percentOf, show, redraw, whenOpen } = figures;
  const MARKS = [5, 15, 25, 35, 45, 55, 65, 75, 85, 95]; // percent at which circles tell left from right without colour
  const boxes = [...document.querySelectorAll("[data-hides]")];
  const hidden = new Set(boxes.filter((box) => !box.checked).map((box) => box.dataset.hides));
  const shown = (what) => !hidden.has(what);
  const named = (curve) => plain(`${curve.side}, ${curve.line}`);

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
    return [{ ...outline(curve), mode: "lines", line: { width: 0 }, fill: "toself", fillcolor, hoverinfo: "skip", showlegend: false }];
  }

  const within = (band, i) => (band && band[0][i] !== null ? `; errors ${number(band[0][i])} to ${number(band[1][i])}` : "");
  const spread = (curve, i) => (curve.sd[i] === null ? "" : ` \u00b1 ${number(curve.sd[i])}`) + within(curve.band, i);
  const readings = (curve, ending) => curve.mean.map((value, i) => (value === null ? "" : number(value) + spread(curve, i) + ending(i)));
  const countAt = (curve) => (i) => ` (n ${curve.counts ? curve.counts[i] : curve.n})`;

  function reference(curve) {
    const line = { color: colour("quiet"), width: 1 };
    const mean = { y: curve.mean, x0: 0, dx: 1, mode: "lines", line, name: curve.name, text: readings(curve, () => ""), hovertemplate: "%{text}" };
    return [...band(curve, `${colour("quiet")}3a`), mean];
  }

  // The single curves of one mean as one line with gaps; each has its label.
  function singles(curve, { step, labels, curves }) {
    const x = curves.flatMap((values) => [...values.map((_, i) => (100 * i) / (values.length - 1)), null]);
    const y = curves.flatMap((values) => [...values.map((value) => (value === null ? null : value * step)), null]);
    const text = curves.flatMap((values, i) => Array(values.length + 1).fill(plain(labels[i])));
    const line = { color: `${colour(curve.side)}90`, dash: curve.dash || "solid", width: 0.8 };
    return { x, y, text, mode: "lines", line, name: named(curve), hovertemplate: "%{text}", showlegend: false };
  }

  function traces(curve, single) {
    const line = { color: colour(curve.side), dash: curve.dash || "solid", width: 2 };
    const circles = { symbol: "circle", size: 6, color: colour("paper"), line: { color: colour(curve.side), width: 1.5 } };
    const mean = {
      y: curve.mean, x0: 0, dx: 1, mode: "lines", line, name: named(curve), text: readings(curve, countAt(curve)), hovertemplate: "%{text}",
      showlegend: false,
    };
    const marks = { x: MARKS, y: MARKS.map((at) => curve.mean[at]), mode: "markers", marker: circles, hoverinfo: "skip", showlegend: false };
    const legend = { x: [null], y: [null], line, name: `${named(curve)} (n ${curve.n})`, hoverinfo: "skip" };
    const left = curve.side === "left";
    return [
      ...band(curve, `${line.color}2e`), ...(single ? [singles(curve, single)] : []), ...(hidden.has("errors") || !curve.band ? [] : curve.band.map(edge)),
      mean, ...(left ? [marks] : []), left ? { ...legend, mode: "lines+markers", marker: circles } : { ...legend, mode: "lines" },
    ];

    function edge(y) {
      return { y, x0: 0, dx: 1, mode: "lines", line: { color: line.color, dash: "dot", width: 1 }, hoverinfo: "skip", showlegend: false };
    }
  }

  const footOff = (curve) => ({
    type: "line", x0: curve.foot_off, x1: curve.foot_off, yref: "paper", y0: 0, y1: 1, layer: "below",
    line: { color: colour(curve.side), dash: curve.dash || "solid", width: 1 },
  });

  const circleOnTop = (curve) => ({
    x: curve.foot_off, y: 1, yref: "paper", text: "\u25cb", showarrow: false, font: { color: colour(curve.side), size: 9 },
  });

  // n from each percent at which it changes along a mean for 6 % or more, as there is no room for more, at the bottom, a
  // row for each curve. The readings have every n.
  const lasts = (n, at) => n[at] !== (n[at - 1] ?? 0) && n.slice(at, at + 6).every((one) => one === n[at]);
  const counts = ({ counts: n, side }, row) => (n ?? []).map((_, at) => at).filter((at) => lasts(n, at)).map((at) => ({
    x: at, y: 0.07 * row, yref: "paper", text: `n ${n[at]}`, showarrow: false, xanchor: "left", yanchor: "bottom", borderpad: 0, font: { color: colour(side), size: 10 },
  }));

  // Bars at the bottom while a muscle is active, a row for each curve.
  const active = (curve, row) => (curve.active ?? []).map(([from, to]) => ({
    type: "rect", x0: from, x1: to, yref: "paper", y0: 0.035 * row, y1: 0.035 * row + 0.025, line: { width: 0 }, fillcolor: colour(curve.side),
  }));

  // Triangles where a mean is beyond its axis, and words with its farthest value, or that of its band or single curves.
  function beyond(curve, single, [low, high]) {
    const excess = ([value]) => Math.max(value - high, low - value);
    const outside = (points) => points.filter((point) => excess(point) > 0);
    const farthest = (points) => points.reduce((far, next) => (excess(next) > excess(far) ? next : far));
    const to = (points) => { const [value, at] = farthest(points); return `to ${number(value)} at ${number(at)} %`; };
    const triangles = (points, edge, direction) => ({
      x: points.map(([, at]) => at), y: points.map(() => edge), mode: "markers", hoverinfo: "skip", showlegend: false, cliponaxis: false,
      marker: { symbol: `triangle-${direction}`, size: 8, color: colour(curve.side), maxdisplayed: 12 },
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

  const content = (figure, single) => () => {
    const curves = figure.curves.map((curve, i) => ({ curve, single: shown("single") || curve.n === 2 ? single()[i] : null }))
      .filter(({ curve }) => shown(`side ${curve.side}`) && shown(`line ${curve.line}`));
    const grey = shown("reference") ? figure.reference.filter(({ lines }) => lines.some((line) => shown(`line ${line}`))).flatMap(reference) : [];
    const limits = shown("axes") && figure.limits;
    const off = curves.map(({ curve }) => curve).filter((curve) => curve.foot_off !== null);
    const out = limits ? curves.map(({ curve, single }) => beyond(curve, single, limits)) : [];
    return {
      data: [...grey, ...curves.flatMap(({ curve, single }) => traces(curve, single)), ...out.flatMap(({ marks }) => marks)],
      layout: layout({
        x: percentOf(figure.over), y: { title: `${plain(figure.unit)}<br>${plain(figure.sign)}`, ...(limits ? { range: [...limits] } : {}) },
        hovermode: shown("single") ? "closest" : "x unified",
        shapes: [...off.map(footOff), ...curves.flatMap(({ curve }, row) => active(curve, row))],
        annotations: [...off.filter((curve) => curve.side === "left").map(circleOnTop), ...curves.flatMap(({ curve }, row) => counts(curve, row))],
      }),
      notes: out.flatMap(({ words }) => words),
    };
  };

  for (const panels of document.querySelectorAll(".panels")) {
    whenOpen(panels, () => {
      const own = JSON.parse(panels.querySelector("script.means").textContent);
      let lines = null; // read when single curves are shown
      const single = (i) => (lines ??= JSON.parse(panels.querySelector("script.single").textContent).single)[i];
      for (const plot of panels.querySelectorAll(".plot")) show(plot, content(own[plot.dataset.figure], () => single(plot.dataset.figure)));
    });
  }
  for (const box of boxes) {
    box.addEventListener("change", () => { hidden[box.checked ? "delete" : "add"](box.dataset.hides); redraw(); });
  }
})();
