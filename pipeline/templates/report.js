"use strict";
// Draws the curves that the page carries as JSON; colours come from the style sheet, so that they follow its theme.
(() => {
  const root = document.documentElement;
  const hidden = new Set();
  const drawn = new Map();

  const colour = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();
  // Plotly reads its texts as HTML
  const plain = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const number = (value) => String(Number(value.toPrecision(3))).replace("-", "\u2212");

  // The outline mean + sd, back along mean - sd, one for each run of known samples.
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

  function traces(curve) {
    const hover = (mean, i) => (curve.sd[i] === null ? "" : ` \u00b1 ${number(curve.sd[i])}`) + ` (n ${curve.n})`;
    const line = colour(curve.side);
    const band = { ...outline(curve), mode: "lines", line: { width: 0 }, fill: "toself", fillcolor: `${line}2e`, hoverinfo: "skip" };
    const mean = {
      y: curve.mean, x0: 0, dx: 1, mode: "lines", line: { color: line, dash: curve.dash || "solid", width: 2 },
      name: plain(`${curve.side}, ${curve.condition}`),
      text: curve.mean.map((value, i) => (value === null ? "" : number(value) + hover(value, i))),
      hovertemplate: "%{text}",
    };
    return [band, mean];
  }

  function layout(figure, curves) {
    const axis = { gridcolor: colour("rule"), zerolinecolor: colour("quiet"), linecolor: colour("quiet"), title: { standoff: 4 } };
    return {
      margin: { l: 70, r: 24, t: 8, b: 40 },
      width: root.classList.contains("printing") ? 320 : undefined,
      paper_bgcolor: colour("paper"), plot_bgcolor: colour("paper"),
      font: { color: colour("ink"), family: "system-ui, sans-serif", size: 11 },
      showlegend: false,
      hovermode: "x unified", hoverlabel: { bgcolor: colour("paper"), bordercolor: colour("quiet") },
      dragmode: matchMedia("(pointer: fine)").matches ? "zoom" : false,
      xaxis: { ...axis, title: { text: "gait cycle", standoff: 4 }, range: [0, 100], dtick: 20, ticksuffix: " %", zeroline: false },
      yaxis: { ...axis, title: { text: `${plain(figure.unit)}<br>${plain(figure.sign)}`, standoff: 4 } },
      shapes: curves.filter((curve) => curve.foot_off !== null).map((curve) => ({
        type: "line", x0: curve.foot_off, x1: curve.foot_off, yref: "paper", y0: 0, y1: 1, layer: "below",
        line: { color: colour(curve.side), dash: curve.dash || "solid", width: 1 },
      })),
    };
  }

  function draw(plot, figure) {
    const curves = figure.curves.filter((curve) => !hidden.has(`side ${curve.side}`) && !hidden.has(`condition ${curve.condition}`));
    const config = { responsive: true, displaylogo: false, modeBarButtons: [["toImage"]], toImageButtonOptions: { format: "svg" } };
    const render = drawn.has(plot) ? Plotly.react : Plotly.newPlot;
    drawn.set(plot, figure);
    render(plot, curves.flatMap(traces), layout(figure, curves), config);
  }

  function drawPanels(panels) {
    const figures = JSON.parse(panels.querySelector("script").textContent);
    for (const plot of panels.querySelectorAll(".plot")) if (!drawn.has(plot)) draw(plot, figures[plot.dataset.figure]);
  }

  const redraw = () => drawn.forEach((figure, plot) => draw(plot, figure));
  const printing = (on) => () => { root.classList.toggle("printing", on); redraw(); };

  for (const panels of document.querySelectorAll(".panels")) {
    const folded = panels.closest("details");
    if (!folded || folded.open) drawPanels(panels);
    folded?.addEventListener("toggle", () => folded.open && drawPanels(panels));
  }
  for (const box of document.querySelectorAll("[data-hides]")) {
    box.addEventListener("change", () => { hidden[box.checked ? "delete" : "add"](box.dataset.hides); redraw(); });
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener("beforeprint", printing(true));
  addEventListener("afterprint", printing(false));
})();
