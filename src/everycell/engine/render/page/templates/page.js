"use strict";
(() => {
  document.documentElement.classList.add("js");

  // A link reaches what is folded.
  const unfold = () => {
    let name = location.hash.slice(1);
    // A sign % that stands for itself, as in a search that somebody typed into the address.
    try { name = decodeURIComponent(name); } catch { return; }
    const target = document.getElementById(name);
    if (!target) return;
    let hidden = false;
    for (let box = target; box; box = box.parentElement?.closest("details")) {
      const details = box.matches("details") ? box : box.querySelector(":scope > details.folded");
      if (details && !details.open) hidden = details.open = true;
    }
    if (hidden) target.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();

  // What is searched for on the page of a chapter is found on the overview.
  const find = document.getElementById("find");
  find?.addEventListener("submit", (event) => {
    event.preventDefault();
    location.href = `../index.html#${new URLSearchParams(new FormData(find))}`;
  });

  // A table or figure that is cut off says so.
  const widths = () => {
    for (const box of document.querySelectorAll(".scroll, figure > a")) {
      box.classList.toggle("wide", box.scrollWidth > box.clientWidth + 1);
    }
  };
  addEventListener("resize", widths);
  document.addEventListener("toggle", widths, true);
  // Figures come late.
  document.addEventListener("load", widths, true);
  document.getElementById("sides")?.addEventListener("change", widths);
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
