"use strict";
// Tables of cells: permalinks, arrow keys, sorting, and a panel with details of a cell.
(() => {
  // Keys of each row, including keys that span from rows above.
  const keysOf = (rows) => {
    const spans = [];
    return rows.map((row) => {
      const own = [...row.querySelectorAll("th")];
      const keys = [];
      for (let column = 0; own.length || spans[column]?.left > 0; column += 1) {
        if (!(spans[column]?.left > 0)) spans[column] = { head: own.shift(), left: 0 };
        if (spans[column].left === 0) spans[column].left = spans[column].head.rowSpan;
        spans[column].left -= 1;
        keys.push(spans[column].head);
      }
      return keys;
    });
  };
  // Names of the value columns, joined over all header rows.
  const columnsOf = (table) => [...table.tHead.rows]
    .map((row) => [...row.cells]
      .filter((cell) => !cell.matches(".key, .corner"))
      .flatMap((cell) => Array(cell.colSpan).fill(cell.textContent)))
    .reduce((above, below) => below.map((name, index) => [above[index], name].filter(Boolean).join(" / ")), []);

  const element = (name, properties, ...children) => {
    const created = Object.assign(document.createElement(name), properties);
    created.append(...children);
    return created;
  };
  const copier = (text) => {
    // Pages from a server without HTTPS cannot access the clipboard.
    if (!navigator.clipboard) return "";
    const button = element("button", { type: "button" }, "Copy");
    button.addEventListener("click", () =>
      navigator.clipboard.writeText(text).then(() => { button.textContent = "Copied"; }));
    return button;
  };

  const panel = document.getElementById("cell");
  const describe = (cell) => {
    const table = cell.closest("table");
    const rows = [...table.tBodies[0].rows];
    const row = cell.parentElement;
    const keys = keysOf(rows)[rows.indexOf(row)].map((key) => key.textContent);
    const name = [...keys, columnsOf(table)[[...row.querySelectorAll("td")].indexOf(cell)]].filter(Boolean);
    const { source, tier, receipt, command, on } = table.dataset;
    const { p, r, v, d, t, y, o = r && "data", s, w } = cell.dataset;
    const link = new URL(`#${cell.id}`, location.href).href;
    const [verdict] = [...cell.classList].slice(1);
    const files = document.getElementById(`${table.dataset.id}-inputs`)?.cloneNode(true);
    if (files) {
      files.removeAttribute("id");
      files.open = files.querySelectorAll("a").length < 6;
    }
    const terms = [
      ["published", p ?? (on ? "no such value" : cell.firstChild.textContent)],
      [on ? "on surrogate data" : "reproduced", r],
      ["verdict", on ? "not compared" : v ?? verdict.replaceAll("-", " ")],
      ["difference", d],
      ["tolerance", t ?? (d && "none, since the value is a count or rank")],
      ["the cause yields", y],
      ["reason", w],
      ["computed from", on ?? { "other cells": "other published values" }[o] ?? o],
      ["sensitivity", s],
      ["in the paper", source],
      ["tier", tier],
      ["inputs", files],
      ["receipt", receipt && element("a", { href: `../${receipt}` }, "hashes of inputs, code and settings")],
      ["command", command && [element("code", {}, command), " ", copier(command)]],
      ["link", [element("a", { href: link }, `#${cell.id}`), " ", copier(link)]],
    ].filter(([, content]) => content);
    const close = element("button", { type: "button", className: "dismiss", ariaLabel: "Close" }, "×");
    close.addEventListener("click", () => { panel.hidden = true; cell.focus(); });
    panel.replaceChildren(close, element("h2", {}, name.join(" / ")),
      element("dl", {}, ...terms.flatMap(([term, content]) =>
        [element("dt", {}, term), element("dd", {}, ...[content].flat())])));
    panel.hidden = false;
    movePanel(cell);
  };
  // Move the panel to the first corner of the window in which it does not cover its cell.
  const movePanel = (cell) => {
    const { left, right, top, bottom } = cell.getBoundingClientRect();
    ["bottom right", "bottom left", "top right", "top left"].some((corner) => {
      panel.dataset.corner = corner;
      const box = panel.getBoundingClientRect();
      return box.left > right || box.right < left || box.top > bottom || box.bottom < top;
    });
  };
  document.addEventListener("click", (event) => {
    const cell = event.target.closest("td.v[data-k]");
    if (cell && !getSelection().toString()) describe(cell);
  });
  addEventListener("keydown", (event) => {
    const cell = event.target.closest?.("td.v[data-k]");
    if (event.key === "Enter" && cell) {
      event.preventDefault();
      describe(cell);
      panel.querySelector("button").focus();
    }
    if (event.key === "Escape" && !panel.hidden) panel.querySelector("button").click();
  });

  // The permalink of a cell opens its panel. Ids are set below, too late for the browser to scroll.
  const follow = () => {
    const cell = document.getElementById(location.hash.slice(1));
    if (!cell?.matches("td.v")) return;
    for (let folded = cell.closest("details"); folded; folded = folded.parentElement.closest("details")) folded.open = true;
    describe(cell);
    cell.scrollIntoView({ block: "center", inline: "center" });
    movePanel(cell);
    cell.focus({ preventScroll: true });
  };

  // A header sorts by the published values of its column: ascending, descending, as published.
  const sortable = (table) => {
    const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
    const body = table.tBodies[0];
    const original = [...body.rows];
    if (original.length < 3) return;
    const keys = keysOf(original);
    const flat = original.map((row, index) => {
      const copy = row.cloneNode(true);
      for (const key of copy.querySelectorAll("th")) key.remove();
      copy.prepend(...keys[index].map((key) =>
        Object.assign(key.cloneNode(true), { rowSpan: 1, scope: "row" })));
      return copy;
    });
    const valueOf = (row, column) => {
      const cell = row.cells[column];
      const text = (cell?.dataset.p ?? cell?.textContent ?? "").trim();
      const number = parseFloat(text.replace(/^[<>=≤≥~\s]+/, "").replaceAll(",", ""));
      return { row, text, number: Number.isNaN(number) ? Infinity : number };
    };
    heads.forEach((head, column) => {
      if (!head.textContent.trim()) return;
      const button = element("button", { type: "button" }, ...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const order = { ascending: "descending", descending: null }[head.ariaSort] ?? (head.ariaSort ? null : "ascending");
        for (const other of heads) other.ariaSort = null;
        head.ariaSort = order;
        const sign = order === "descending" ? -1 : 1;
        body.replaceChildren(...(!order ? original : flat.map((row) => valueOf(row, column))
          .sort((a, b) => sign * (a.number === b.number ? a.text.localeCompare(b.text) : a.number - b.number))
          .map(({ row }) => row)));
        dispatchEvent(new Event("resize"));
      });
    });
  };

  for (const table of document.querySelectorAll(".cells")) {
    for (const cell of table.querySelectorAll("[data-k]")) cell.id = `${table.dataset.id}-${cell.dataset.k}`;
    // The Tab key stops once per table; the arrow keys move from cell to cell.
    for (const cell of table.querySelectorAll(".v")) cell.tabIndex = -1;
    const first = table.querySelector(".v");
    if (first) first.tabIndex = 0;
    sortable(table);
    table.addEventListener("keydown", (event) => {
      const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      const cell = event.target.closest("td.v");
      if (!step || !cell) return;
      const rows = [...table.tBodies[0].rows].map((row) => [...row.querySelectorAll("td")]);
      const row = rows.findIndex((cells) => cells.includes(cell));
      const next = rows[row + step[0]]?.[rows[row].indexOf(cell) + step[1]];
      if (!next || !next.classList.contains("v")) return;
      event.preventDefault();
      cell.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  }
  addEventListener("hashchange", follow);
  follow();
})();
