"use strict";
(() => {
  document.documentElement.classList.add("js");

  // Open the collapsed blocks that contain the target of a link.
  const unfold = () => {
    let name = location.hash.slice(1);
    // A literal %, such as in a search typed into the address bar, cannot be decoded.
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

  // A search on a chapter's page opens the overview.
  const find = document.getElementById("find");
  find?.addEventListener("submit", (event) => {
    event.preventDefault();
    location.href = `../index.html#${new URLSearchParams(new FormData(find))}`;
  });

  // Mark tables and figures that are wider than the page. Their key columns stay visible as long as
  // they take at most half of the width, those with the most distinct keys first.
  const widths = () => {
    for (const box of document.querySelectorAll(".scroll, figure > a")) {
      box.classList.remove("wide");
      for (const key of box.querySelectorAll(".fixed")) key.classList.remove("fixed");
      if (box.scrollWidth <= box.clientWidth + 1) continue;
      const columns = [];
      for (const key of box.querySelectorAll("tbody th, thead tr:last-child .key")) {
        const start = key.offsetLeft;
        let column = columns.find((other) => other.start === start);
        if (!column) columns.push(column = { start, width: key.offsetWidth, keys: [] });
        column.keys.push(key);
      }
      const distinct = ({ keys }) => new Set(keys.map((key) => key.textContent)).size;
      let room = box.clientWidth / 2;
      for (const column of [...columns].sort((a, b) => distinct(b) - distinct(a))) {
        column.fixed = column.width < room || room === box.clientWidth / 2;
        if (column.fixed) room -= column.width;
      }
      if (columns.every((column) => column.fixed)) {
        const corner = [...box.querySelectorAll("thead .corner")];
        columns.unshift({ keys: corner, width: 0, fixed: true });
      }
      let left = 0;
      for (const { keys, width } of columns.filter((column) => column.fixed)) {
        for (const key of keys) {
          key.classList.add("fixed");
          key.style.left = `${left}px`;
        }
        left += width;
      }
      box.classList.add("wide");
    }
  };
  addEventListener("resize", widths);
  document.addEventListener("toggle", widths, true);
  // Figures are loaded later.
  document.addEventListener("load", widths, true);
  document.getElementById("sides")?.addEventListener("change", widths);
  widths();

  // "/" focuses the search field.
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.matches("input, select, textarea")) return;
    event.preventDefault();
    document.querySelector('[type="search"]')?.focus();
  });
})();
