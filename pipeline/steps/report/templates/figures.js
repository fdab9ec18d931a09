"use strict";
// Shared by all figures: colours of the style sheet, layout, drawing on scroll, themes, printing.
const figures = (() => {
  const root = document.documentElement;
  const draws = new Map(); // element -> function that returns its content
  const stale = new Set(); // elements to draw again
  const near = new Set(); // elements on or near the screen

  const colour = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();
  // Plotly interprets its texts as HTML
  const plain = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const number = (value) => String(Number(value.toPrecision(3))).replace("-", "\u2212");

  const config = {
    responsive: true, displaylogo: false, toImageButtonOptions: { format: "svg" },
    modeBarButtons: [["zoomIn2d", "zoomOut2d", "resetScale2d", "toImage"]],
  };

  // A layout in the page's colours, with x, y and others added.
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

  const percentOf = (title) => ({ title, range: [0, 100], dtick: 20, tickangle: 0, ticksuffix: " %", showticksuffix: "last", zeroline: false });

  function draw(element) {
    stale.delete(element);
    const { data, layout } = draws.get(element)();
    const render = element.classList.contains("js-plotly-plot") ? Plotly.react : Plotly.newPlot;
    const onPaper = element.classList.contains("tall") ? { width: 340, height: 300 } : { width: 235, height: 170 };
    if (root.classList.contains("printing")) Object.assign(layout, onPaper, { font: { ...layout.font, size: 9 } });
    render(element, data, layout, config);
  }

  // Draw one figure at a time, the topmost first, so that the page stays responsive.
  let working = false;
  async function work() {
    if (working || !(await library) || working) return;
    working = true;
    const top = (element) => element.getBoundingClientRect().top;
    const next = () => [...near].filter((element) => stale.has(element)).sort((a, b) => top(a) - top(b))[0];
    for (let element = next(); element; element = next()) {
      draw(element);
      await new Promise((done) => setTimeout(done));
    }
    working = false;
  }

  const watcher = new IntersectionObserver((changes) => {
    for (const { target, isIntersecting } of changes) near[isIntersecting ? "add" : "delete"](target);
    work();
  }, { rootMargin: "50%" });

  // Draw an element when it is near the screen, and again when theme or paper change; content returns data and layout.
  function show(element, content) {
    draws.set(element, content);
    stale.add(element);
    watcher.observe(element);
    work();
  }

  // Run once, when no closed <details> hides the element.
  function whenOpen(element, run) {
    const fold = element.closest("details:not([open])");
    if (!fold) run();
    else fold.addEventListener("toggle", () => whenOpen(element, run), { once: true });
  }

  function redraw() {
    for (const element of draws.keys()) stale.add(element);
    work();
  }
  const printing = (on) => () => {
    root.classList.toggle("printing", on);
    if (!on) redraw();
    else if (window.Plotly) [...draws.keys()].forEach(draw); // print all at once
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener("beforeprint", printing(true));
  addEventListener("afterprint", printing(false));

  return { colour, plain, number, layout, percentOf, show, redraw, whenOpen };
})();
