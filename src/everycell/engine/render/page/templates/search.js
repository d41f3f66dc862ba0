"use strict";
(() => {
  const form = document.getElementById("search");
  const hits = document.getElementById("hits");
  const list = hits.querySelector("ol");
  const said = form.querySelector("output");

  const artefacts = [...document.querySelectorAll(".row")].map((row, id) => {
    const { chapter, heading } = row.closest(".chapter").dataset;
    const { work, authors } = row.closest(".paper").dataset;
    const { key, label, title, verdicts } = row.dataset;
    const tiers = row.dataset.tiers.trim().split(/\s+/).map((text) => {
      const [name, state, found] = text.split(":");
      return { name, state, verdicts: found.split(",") };
    });
    return { id, row, key, label, title, chapter, heading, work, authors, tiers, verdicts: verdicts.split(" ") };
  });

  // "Table 4.8" is one number in any spelling: lajewska2025/table_4_8, lajewska2025_table_4_8.
  const asPrinted = (text) => text.toLowerCase().replace(
    /(^|[\s/_])(table|figure|text)_([0-9a-z]+(?:_[0-9a-z]+)*)/g,
    (_, before, kind, number) => `${before === "_" ? " " : before}${kind} ${number.replaceAll("_", ".")}`);
  const words = (text) => asPrinted(text)
    .split(/[\s/,;:()"'’“”–-]+/)
    .map((word) => word.replace(/^\.+|\.+$/g, ""))
    .filter(Boolean);
  // "Table 4.8 of lajewska2025": all words must be found, but for these.
  const FILLING = new Set(["in", "of", "the"]);
  const bare = (word) => !FILLING.has(word) &&
    word.normalize("NFD").replace(/\p{M}/gu, "").replaceAll("ł", "l");

  const index = new MiniSearch({
    fields: ["label", "key", "title", "heading", "chapter", "authors"],
    tokenize: words,
    processTerm: bare,
    searchOptions: {
      combineWith: "AND",
      boost: { label: 8, key: 4, title: 2, chapter: 0.1 },
      prefix: true,
      // A long title is as good as a short one.
      bm25: { k: 1.2, b: 0, d: 0.5 },
      // Numbers are meant as they are written.
      fuzzy: (word) => (word.length > 4 && !/\d/.test(word) ? 0.2 : false),
    },
  });
  index.addAll(artefacts);

  // Tier, state and verdict must come together: what is rebuilt in one tier may stand in another.
  function fits(artefact, want) {
    if (want.in && artefact.work !== want.in && artefact.chapter !== want.in) return false;
    const tiers = artefact.tiers.filter((tier) =>
      (!want.tier || tier.name === want.tier) && (!want.state || tier.state === want.state));
    if (!tiers.length) return false;
    if (!want.verdict) return true;
    if (!want.tier && !want.state) return artefact.verdicts.includes(want.verdict);
    return tiers.some((tier) => tier.verdicts.includes(want.verdict));
  }

  function show() {
    const want = Object.fromEntries(new FormData(form));
    const asked = Object.values(want).some(Boolean);
    const ranked = want.q.trim()
      ? index.search(want.q).map((result) => artefacts[result.id])
      : artefacts;
    const found = asked ? ranked.filter((artefact) => fits(artefact, want)) : [];
    list.replaceChildren(...found.map((artefact) => artefact.row.cloneNode(true)));
    hits.hidden = !found.length;
    said.textContent = !asked
      ? ""
      : found.length
        ? `${found.length} of ${artefacts.length} artefacts`
        : "Nothing is found. Take a filter away, or try a label (table 4.8), a word of a title, or an author.";
    // The form stays in sight above what was found.
    if (found.length) scrollTo({ top: form.parentElement.offsetTop });
  }

  // The address has what was asked, so that it can be sent to others and the back button works.
  const address = () => {
    const asked = [...new FormData(form)].filter(([, value]) => value);
    return asked.length ? `#${new URLSearchParams(asked)}` : location.pathname;
  };
  function restore() {
    const hash = location.hash.slice(1);
    // The name of a place on the page is no search.
    if (hash && !hash.includes("=")) return;
    const asked = new URLSearchParams(hash);
    for (const field of form.elements) if (field.name) field.value = asked.get(field.name) ?? "";
    show();
  }
  form.addEventListener("input", (event) => {
    // Not each letter is a step back.
    if (event.target.name === "q") history.replaceState(null, "", address());
    else history.pushState(null, "", address());
    show();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.focus();
  });
  form.addEventListener("reset", () => setTimeout(() => {
    history.pushState(null, "", address());
    show();
  }));
  addEventListener("popstate", restore);
  addEventListener("hashchange", restore);
  restore();
})();
