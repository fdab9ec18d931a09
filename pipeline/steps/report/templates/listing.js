// Long tables: their rows are packed in the page; search them, choose among them, sort and leaf through them.
(() => {
  const parsed = (cell) => { const value = parseFloat(cell); return Number.isNaN(value) ? cell : value; };
  const count = (values) => values.reduce((found, value) => found.set(value, (found.get(value) ?? 0) + 1), new Map());

  // Numbers by size, then words; a table keeps its order where cells are equal.
  function compare(a, b) {
    if (typeof a === typeof b) return a < b ? -1 : Number(a > b);
    return typeof a === "number" ? -1 : 1;
  }

  function fill(select, values) {
    for (const [value, n] of [...count(values)].sort(([a], [b]) => compare(a, b))) select.add(new Option(`${value} (${n})`, value));
  }

  async function start(listing) {
    const { rows, marks, folder } = await dataOf(listing.querySelector("script"));
    const words = rows.map((row, i) => [...row, ...(marks[i] ?? [])].join(" ").toLowerCase());
    const [search, output, body] = ["input", "output", "tbody"].map((name) => listing.querySelector(name));
    const [choices, heads, steps] = ["select", "thead th", "[data-go]"].map((name) => [...listing.querySelectorAll(name)]);
    const state = heads.findIndex((head) => head.textContent === "Data");
    const shown = body.rows.length;
    const cells = (choice, i) => ("column" in choice.dataset ? [rows[i][choice.dataset.column]] : marks[i]);
    let found = [], first = 0, sorted = null;

    function line(row) {
      const tr = document.createElement("tr");
      row.forEach((cell, i) => {
        const td = tr.appendChild(document.createElement(i ? "td" : "th"));
        const inner = !i && folder ? Object.assign(document.createElement("a"), { href: `${folder}/${cell}.html` }) : i === state ? document.createElement("span") : td;
        if (i === state) inner.className = `state ${cell.replace(" ", "-")}`;
        inner.textContent = cell;
        if (inner !== td) td.append(inner);
      });
      tr.cells[0].scope = "row";
      return tr;
    }

    function leaf(to) {
      first = Math.max(0, Math.min(to, found.length - 1));
      body.replaceChildren(...found.slice(first, first + shown).map((i) => line(rows[i])));
      const last = Math.min(first + shown, found.length);
      output.textContent = found.length ? `${first + 1} to ${last} of ${found.length}` : "none of these";
      for (const step of steps) step.disabled = step.dataset.go < 0 ? first === 0 : last === found.length;
    }

    function find() {
      const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const chosen = choices.filter((choice) => choice.value);
      const fits = (i) => wanted.every((word) => words[i].includes(word)) && chosen.every((choice) => cells(choice, i).includes(choice.value));
      found = [...rows.keys()].filter(fits);
      if (sorted) found.sort((a, b) => sorted.way * compare(parsed(rows[a][sorted.column]), parsed(rows[b][sorted.column])));
      leaf(0);
    }

    function sort(column) {
      sorted = { column, way: sorted?.column === column ? -sorted.way : 1 };
      heads.forEach((head, i) => head.setAttribute("aria-sort", i !== column ? "none" : sorted.way > 0 ? "ascending" : "descending"));
      find();
    }

    heads.forEach((head, column) => {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: head.textContent });
      button.addEventListener("click", () => sort(column));
      head.replaceChildren(button);
    });
    for (const choice of choices) {
      fill(choice, rows.flatMap((_, i) => cells(choice, i)));
      choice.addEventListener("change", find);
    }
    search.addEventListener("input", find);
    for (const step of steps) step.addEventListener("click", () => leaf(first + shown * step.dataset.go));
    listing.querySelector(".controls").hidden = false;
    find();
  }

  for (const listing of document.querySelectorAll(".listing")) {
    figures.whenOpen(listing, () => start(listing).catch(() => { document.getElementById("unsupported").hidden = false; }));
  }
})();
