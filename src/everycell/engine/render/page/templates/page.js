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

  // A search on the page of a chapter leads to the overview.
  const find = document.getElementById("find");
  find?.addEventListener("submit", (event) => {
    event.preventDefault();
    location.href = `../index.html#${new URLSearchParams(new FormData(find))}`;
  });

  // A table or figure that is cut off says so. The keys of its rows stay in sight: all columns of
  // them where they leave half of the width, else the last one.
  const widths = () => {
    for (const box of document.querySelectorAll(".scroll, figure > a")) {
      box.classList.remove("wide");
      const wide = box.scrollWidth > box.clientWidth + 1;
      const keys = [...box.querySelectorAll("tbody th, thead tr:last-child th.key, thead tr:not(:last-child) td")];
      const edges = wide && keys.map((key) => [key, key.offsetLeft, key.offsetLeft + key.offsetWidth]);
      const right = wide && Math.max(0, ...edges.map(([, , end]) => end));
      for (const [key, start, end] of edges || []) {
        const all = right < box.clientWidth / 2;
        key.classList.toggle("fixed", all || end === right);
        key.style.left = `${all ? start : 0}px`;
      }
      box.classList.toggle("wide", wide);
    }
  };
  addEventListener("resize", widths);
  document.addEventListener("toggle", widths, true);
  // Figures come late.
  document.addEventListener("load", widths, true);
  document.getElementById("sides")?.addEventListener("change", widths);
  widths();

  // "/" leads to the search.
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.matches("input, select, textarea")) return;
    event.preventDefault();
    document.querySelector('[type="search"]')?.focus();
  });
})();
