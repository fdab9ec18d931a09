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

  const BEYOND = "Beyond the axis";
  const MOST_NOTES = 2; // below a printed panel, so that the rows fill one page
  const saving = (format, icon) => ({
    name: `save-${format}`, title: `Save as ${format.toUpperCase()}`, icon, click: (element) => save(element, format),
  });
  const config = () => ({
    responsive: true, displaylogo: false,
    modeBarButtons: [["zoomIn2d", "zoomOut2d", "resetScale2d", saving("svg", Plotly.Icons.disk), saving("png", Plotly.Icons.camera)]],
  });

  // Save a figure in light colours with title, owner and legend, named by owner and title.
  function save(element, format) {
    const { owner, about } = element.closest("[data-owner]").dataset;
    const title = element.dataset.title ?? element.closest("figure").querySelector("figcaption").textContent;
    const { data, layout, notes = [] } = lightly(draws.get(element));
    const below = [[owner, about, document.getElementById("main").dataset.study].filter(Boolean).join(", "), ...notes.map((note) => `${BEYOND}: ${note}`)];
    const more = 18 * below.length; // pixels
    Object.assign(layout, {
      title: { text: plain(title), subtitle: { text: below.map(plain).join("<br>") }, x: 0.08, xanchor: "left", yref: "container", y: 1, yanchor: "top", pad: { t: 14 } },
      showlegend: true, legend: { orientation: "h", x: 0, y: -0.15, yanchor: "top" }, font: { ...layout.font, size: 14 },
      margin: { l: 90, r: 30, t: 65 + more, b: 120 },
    });
    const filename = `${owner} ${title}`.replaceAll(/[^\p{L}\p{N}-]+/gu, "_");
    return Plotly.downloadImage({ data, layout }, { format, filename, width: 900, height: 560 + more });
  }

  // Run a function in the light theme, also on a dark screen.
  function lightly(run) {
    const before = root.classList.contains("printing");
    root.classList.add("printing");
    const result = run();
    root.classList.toggle("printing", before);
    return result;
  }

  // A layout in the page's colours, with x, y and more added; others are axes beside x, difference an axis of its own, and
  // what is right of it has the ticks of y once more.
  function layout({ x, y, others = [], difference = false, ...more }) {
    const axis = { gridcolor: colour("rule"), zerolinecolor: colour("quiet"), linecolor: colour("quiet") };
    return {
      margin: { l: 70, r: 24, t: 8, b: 40 },
      paper_bgcolor: colour("paper"), plot_bgcolor: colour("paper"),
      font: { color: colour("ink"), family: "system-ui, sans-serif", size: 11 },
      showlegend: false, hoverlabel: { bgcolor: colour("paper"), bordercolor: colour("quiet") },
      dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom",
      xaxis: { ...axis, ...x, title: { text: x.title, standoff: 4 } },
      yaxis: { ...axis, ...y, title: { text: y.title, standoff: 4 } },
      ...Object.fromEntries(others.map((one) => [`xaxis${one.axis.slice(1)}`, { ...axis, ...one, title: { text: one.title, standoff: 4 }, ...(one.axis === "x3" ? { anchor: "y2" } : difference ? { anchor: "y3" } : {}) }])),
      ...(difference ? { yaxis3: { ...axis, ...y, anchor: "x2", matches: "y", title: { text: "" } } } : {}),
      ...(difference ? { yaxis2: { ...axis, anchor: "x3", zeroline: true, title: { text: difference.title, standoff: 2 }, ...(difference.range ? { range: difference.range } : {}) } } : {}),
      ...more,
    };
  }

  const percentOf = (title) => ({ title, range: [0, 100], dtick: 20, tickangle: 0, ticksuffix: " %", showticksuffix: "last", zeroline: false });

  // Fit a figure to the size on paper, which the style sheet has in pixels: small letters, thin lines, narrow margins.
  function fitPaper(element, data, layout) {
    const style = getComputedStyle(element);
    for (const name of ["width", "height"]) layout[name] = Number(style.getPropertyValue(`--paper-${name}`));
    const low = layout.height < 115;
    layout.font.size = low ? 7.5 : 9;
    for (const axis of [layout.xaxis, layout.xaxis2, layout.xaxis3, layout.yaxis, layout.yaxis2]) if (axis) axis.title.font = { size: low ? 5 : 7.5 };
    Object.assign(layout.margin, { l: 46, r: 20, t: 6, b: 30 });
    for (const shape of layout.shapes ?? []) shape.line.width *= 0.7;
    for (const trace of data) {
      if (trace.line?.width) trace.line = { ...trace.line, width: 0.7 * trace.line.width };
      if (trace.marker) trace.marker = { ...trace.marker, size: 0.7 * trace.marker.size };
    }
  }

  function draw(element) {
    stale.delete(element);
    const { data, layout, notes = [] } = draws.get(element)();
    const render = element.classList.contains("js-plotly-plot") ? Plotly.react : Plotly.newPlot;
    if (root.classList.contains("printing")) fitPaper(element, data, layout);
    const { width } = element.getBoundingClientRect();
    if (!layout.width && width) layout.width = width; // a switch may have changed it
    render(element, data, layout, config());
    const beyond = element.parentElement.querySelector(".beyond");
    const many = root.classList.contains("printing") && notes.length > MOST_NOTES;
    const words = many ? [...notes.slice(0, MOST_NOTES), `${notes.length - MOST_NOTES} more`] : notes;
    if (beyond) beyond.textContent = words.length ? `${BEYOND}: ${words.join("; ")}` : "";
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

  // On paper each open part has the legend.
  function arrange(paper) {
    for (const copy of document.querySelectorAll(".key.copy")) copy.remove();
    for (const part of paper ? document.querySelectorAll(".figures :is(section, details[open]) > .panels") : []) {
      const copy = document.querySelector(".key").cloneNode(true);
      copy.classList.add("copy");
      copy.classList.toggle("of-first", part.classList.contains("first"));
      part.before(copy);
    }
  }

  const printing = (on) => () => {
    root.classList.toggle("printing", on);
    root.classList.toggle("with-appendix", document.querySelector("main section > details[open] > summary > h2") !== null);
    arrange(on);
    if (!on) redraw();
    else if (window.Plotly) [...draws.keys()].filter((element) => element.checkVisibility()).forEach(draw); // print all at once
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener("beforeprint", printing(true));
  addEventListener("afterprint", printing(false));

  return { colour, plain, number, layout, percentOf, show, redraw, whenOpen };
})();
