"use strict";
(() => {
  document.documentElement.classList.add("js");
  const form = document.getElementById("filter");
  const articles = [...document.querySelectorAll("article")];
  const texts = articles.map((article) => article.textContent.toLowerCase());
  const groups = document.querySelectorAll(".chapter, .paper");

  function filter() {
    const want = Object.fromEntries(new FormData(form));
    const words = want.text.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    articles.forEach((article, index) => {
      const has = (list, value) => !value || list.split(" ").includes(value);
      const fits = has(article.dataset.paper, want.paper) &&
        has(article.dataset.states, want.state) &&
        has(article.dataset.verdicts, want.verdict) &&
        words.every((word) => texts[index].includes(word));
      article.hidden = !fits;
      shown += fits;
    });
    for (const group of groups) group.hidden = !group.querySelector("article:not([hidden])");
    form.querySelector("output").textContent = `${shown} of ${articles.length} artefacts`;
  }
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  filter();

  // A link from above must reach its place, even if the filter hid it.
  addEventListener("hashchange", () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.closest("[hidden]")) {
      form.reset();
      setTimeout(() => target.scrollIntoView());
    }
  });

  // A table that is cut off says so.
  const widths = () => {
    for (const box of document.querySelectorAll(".scroll")) {
      box.classList.toggle("wide", box.scrollWidth > box.clientWidth + 1);
    }
  };
  addEventListener("resize", widths);
  widths();

  // One stop of the Tab key for each table; the arrow keys go from cell to cell.
  for (const table of document.querySelectorAll(".cells")) {
    const rows = [...table.tBodies[0].rows].map((row) => [...row.querySelectorAll("td")]);
    for (const cell of table.querySelectorAll(".v")) cell.tabIndex = -1;
    const first = table.querySelector(".v");
    if (first) first.tabIndex = 0;
    table.addEventListener("keydown", (event) => {
      const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      const cell = event.target.closest("td.v");
      if (!step || !cell) return;
      const row = rows.findIndex((cells) => cells.includes(cell));
      const next = rows[row + step[0]]?.[rows[row].indexOf(cell) + step[1]];
      if (!next || !next.classList.contains("v")) return;
      event.preventDefault();
      cell.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  }
})();
