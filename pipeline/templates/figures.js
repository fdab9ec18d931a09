"use strict";
// What all figures share: colours of the style sheet, layout, drawing one after another, themes, printing.
const figures = (() => {
  const root = document.documentElement;
  const draws = new Map(); // element -> how to draw it as it should be now
  const waiting = new Set();

  const colour = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();
  // Plotly reads its texts as HTML
  const plain = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const number = (value) => String(Number(value.toPrecision(3))).replace("-", "\u2212");

  const config = {
    responsive: true, displaylogo: false, toImageButtonOptions: { format: "svg" },
    modeBarButtons: [["zoomIn2d", "zoomOut2d", "resetScale2d", "toImage"]],
  };

  // A layout in the page's colours; x, y and others are added to it.
  function layout({ x, y, ...others }) {
    const axis = { gridcolor: colour("rule"), zerolinecolor: colour("quiet"), linecolor: colour("quiet") };
    return {
      margin: { l: 70, r: 24, t: 8, b: 40 },
      paper_bgcolor: colour("paper"), plot_bgcolor: colour("paper"),
      font: { color: colour("ink"), family: "system-ui, sans-serif", size: 11 },
      showlegend: false, hoverlabel: { bgcolor: colour("paper"), bordercolor: colour("quiet") },
      dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom",
      xaxis: { ...axis, ...x, title: { text: x.title, standoff: 4 } },
      yaxis: { ...axis, ...y, title: { text: y.title, standoff: 4 } },
      ...others,
    };
  }

  const gaitCycle = { title: "gait cycle", range: [0, 100], dtick: 20, tickangle: 0, ticksuffix: " %", showticksuffix: "last", zeroline: false };

  function draw(element) {
    waiting.delete(element);
    const { data, layout } = draws.get(element)();
    const render = element.classList.contains("js-plotly-plot") ? Plotly.react : Plotly.newPlot;
    const onPaper = element.classList.contains("tall") ? { width: 340, height: 300 } : { width: 235, height: 190 };
    render(element, data, root.classList.contains("printing") ? { ...layout, ...onPaper } : layout, config);
  }

  // One figure per turn, the nearest to what is seen first, so that the page answers meanwhile.
  function work() {
    const away = (element) => Math.abs(element.getBoundingClientRect().top);
    const next = [...waiting].reduce((best, other) => (best && away(best) <= away(other) ? best : other), null);
    if (!next) return;
    draw(next);
    if (waiting.size) setTimeout(work);
  }

  // Draws an element now or soon, and whenever theme or paper change; content returns its data and layout.
  function show(element, content) {
    if (draws.has(element)) { draws.set(element, content); draw(element); return; }
    draws.set(element, content);
    if (!waiting.size) setTimeout(work);
    waiting.add(element);
  }

  // Runs once, when no fold hides the element.
  function whenOpen(element, run) {
    const fold = element.closest("details:not([open])");
    if (!fold) run();
    else fold.addEventListener("toggle", () => whenOpen(element, run), { once: true });
  }

  const redraw = () => [...draws.keys()].forEach(draw);
  const printing = (on) => () => { root.classList.toggle("printing", on); redraw(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener("beforeprint", printing(true));
  addEventListener("afterprint", printing(false));

  return { colour, plain, number, layout, gaitCycle, show, redraw, whenOpen };
})();
