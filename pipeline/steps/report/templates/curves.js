"use strict";
// The panels: mean curves with their bands per side and condition, and the choice of what to show.
(() => {
  const { colour, plain, number, layout, percentOf, show, redraw, whenOpen } = figures;
  const hidden = new Set();

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

  const band = (curve, fillcolor) => (
    { ...outline(curve), mode: "lines", line: { width: 0 }, fill: "toself", fillcolor, hoverinfo: "skip" }
  );

  const within = (band, i) => (band && band[0][i] !== null ? `; errors ${number(band[0][i])} to ${number(band[1][i])}` : "");
  const spread = (curve, i) => (curve.sd[i] === null ? "" : ` \u00b1 ${number(curve.sd[i])}`) + within(curve.band, i);
  const readings = (curve, ending) => curve.mean.map((value, i) => (value === null ? "" : number(value) + spread(curve, i) + ending));

  function reference(curve) {
    const line = { color: colour("quiet"), width: 1 };
    const mean = { y: curve.mean, x0: 0, dx: 1, mode: "lines", line, name: "reference", text: readings(curve, ""), hovertemplate: "%{text}" };
    return [band(curve, `${colour("quiet")}3a`), mean];
  }

  function traces(curve) {
    const line = colour(curve.side);
    const mean = {
      y: curve.mean, x0: 0, dx: 1, mode: "lines", line: { color: line, dash: curve.dash || "solid", width: 2 },
      name: plain(`${curve.side}, ${curve.condition}`), text: readings(curve, ` (n ${curve.n})`), hovertemplate: "%{text}",
    };
    return [band(curve, `${line}2e`), ...(hidden.has("errors") || !curve.band ? [] : curve.band.map(edge)), mean];

    function edge(y) {
      return { y, x0: 0, dx: 1, mode: "lines", line: { color: line, dash: "dot", width: 1 }, hoverinfo: "skip" };
    }
  }

  const footOff = (curve) => ({
    type: "line", x0: curve.foot_off, x1: curve.foot_off, yref: "paper", y0: 0, y1: 1, layer: "below",
    line: { color: colour(curve.side), dash: curve.dash || "solid", width: 1 },
  });

  const content = (figure) => () => {
    const curves = figure.curves.filter((curve) => !hidden.has(`side ${curve.side}`) && !hidden.has(`condition ${curve.condition}`));
    const grey = figure.reference && !hidden.has("reference") ? reference(figure.reference) : [];
    return {
      data: [...grey, ...curves.flatMap(traces)],
      layout: layout({
        x: percentOf(figure.over), y: { title: `${plain(figure.unit)}<br>${plain(figure.sign)}` }, hovermode: "x unified",
        shapes: curves.filter((curve) => curve.foot_off !== null).map(footOff),
      }),
    };
  };

  for (const panels of document.querySelectorAll(".panels")) {
    whenOpen(panels, () => {
      const own = JSON.parse(panels.querySelector("script").textContent);
      for (const plot of panels.querySelectorAll(".plot")) show(plot, content(own[plot.dataset.figure]));
    });
  }
  for (const box of document.querySelectorAll("[data-hides]")) {
    box.addEventListener("change", () => { hidden[box.checked ? "delete" : "add"](box.dataset.hides); redraw(); });
  }
})();
