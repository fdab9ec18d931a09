// The table of contents: marks the section that is read, or that was chosen there until the reader scrolls on.
(() => {
  const nav = document.querySelector(".contents");
  new ResizeObserver(() => document.documentElement.style.setProperty("--contents", `${nav.offsetHeight}px`)).observe(nav); // the key is below
  const links = new Map([...nav.querySelectorAll("a")].map((link) => [link.hash.slice(1), link]));
  const sections = [...document.querySelectorAll("main section[aria-labelledby]")];
  let chosen = null;

  function mark(id) {
    for (const [other, link] of links) {
      if (other === id) link.setAttribute("aria-current", "location"); else link.removeAttribute("aria-current");
    }
    const { offsetLeft, offsetWidth } = links.get(id);
    if (nav.scrollWidth > nav.clientWidth) nav.scrollLeft = offsetLeft - (nav.clientWidth - offsetWidth) / 2;
  }

  // The line of reading moves down the window with the page, so that it passes short sections at the end too.
  function read() {
    const share = scrollY / Math.max(1, document.documentElement.scrollHeight - innerHeight);
    const begun = sections.filter((section) => section.getBoundingClientRect().top <= share * innerHeight);
    return (begun.at(-1) ?? sections[0]).getAttribute("aria-labelledby");
  }

  let waiting = false;
  function follow() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; mark(chosen ?? read()); });
  }

  // A link opens the part that it leads to; "#appendix" opens all curves and numbers, for a printed file.
  function unfold() {
    if (location.hash === "#appendix") for (const part of document.querySelectorAll(".figures section > details, [aria-labelledby=metrics] > details")) part.open = true;
    for (let part = document.getElementById(location.hash.slice(1)); part; part = part.parentElement) if ("open" in part) part.open = true;
  }
  addEventListener("hashchange", unfold);
  unfold();

  for (const [id, link] of links) link.addEventListener("click", () => { chosen = id; unfold(); follow(); });
  for (const event of ["wheel", "touchmove", "keydown"]) addEventListener(event, () => { chosen = null; }, { passive: true });
  addEventListener("scroll", follow, { passive: true });
  follow();
})();
