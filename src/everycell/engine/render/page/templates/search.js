"use strict";
(() => {
  const form = document.getElementById("search");
  const hits = document.getElementById("hits");
  const list = hits.querySelector("ol");
  const message = form.querySelector("output");

  const artefacts = [...document.querySelectorAll(".row")].map((row, id) => {
    const { chapter, heading } = row.closest(".chapter").dataset;
    const { work, authors } = row.closest(".paper").dataset;
    const { key, label, title, words, verdicts } = row.dataset;
    const tiers = row.dataset.tiers.trim().split(/\s+/).map((text) => {
      const [name, state, names] = text.split(":");
      return { name, state, verdicts: names.split(",") };
    });
    return { id, row, key, label, title, words, chapter, heading, work, authors, tiers, verdicts: verdicts.split(" ") };
  });

  // "Table 4.8" is one number in any spelling: KEY/table_4_8, KEY_table_4_8.
  const asPrinted = (text) => text.toLowerCase().replace(
    /(^|[\s/_])(table|figure|text)_([0-9a-z]+(?:_[0-9a-z]+)*)/g,
    (_, before, kind, number) => `${before === "_" ? " " : before}${kind} ${number.replaceAll("_", ".")}`);
  const words = (text) => asPrinted(text)
    .split(/[\s/,;:()"'’“”–-]+/)
    .map((word) => word.replace(/^\.+|\.+$/g, ""))
    .filter(Boolean);
  // "Table 4.8 of KEY": all words must match, but for these.
  const FILLING = new Set(["in", "of", "the"]);
  const bare = (word) => !FILLING.has(word) &&
    word.normalize("NFD").replace(/\p{M}/gu, "").replaceAll("ł", "l");

  const index = new MiniSearch({
    fields: ["label", "key", "title", "heading", "chapter", "authors", "words"],
    tokenize: words,
    processTerm: bare,
    searchOptions: {
      combineWith: "AND",
      boost: { label: 8, key: 4, title: 2, chapter: 0.1, words: 0.5 },
      prefix: true,
      // A long title is as good as a short one.
      bm25: { k: 1.2, b: 0, d: 0.5 },
      // Numbers are matched exactly.
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
    const active = Object.values(want).some(Boolean);
    const ranked = want.q.trim()
      ? index.search(want.q).map((result) => artefacts[result.id])
      : artefacts;
    const matches = active ? ranked.filter((artefact) => fits(artefact, want)) : [];
    list.replaceChildren(...matches.map((artefact) => artefact.row.cloneNode(true)));
    hits.hidden = !matches.length;
    message.textContent = !active ? "" : matches.length ? `${matches.length} of ${artefacts.length} artefacts` : "No matches. ";
    if (active && !matches.length) advise(want);
    // The form stays in sight above the matches.
    if (matches.length) scrollTo({ top: form.parentElement.offsetTop });
  }

  // A word with another spelling, if one is close to a word of the tables, titles or authors.
  function advise(want) {
    const close = want.q.trim() && !index.search(want.q).length
      ? index.autoSuggest(want.q, { fuzzy: 0.4, prefix: false, combineWith: "AND" })
      : [];
    // Most slips swap or mistake a letter: words of the same length are nearest.
    const longer = ({ suggestion }) => Math.abs(suggestion.length - want.q.trim().length);
    const [better] = [...close].sort((a, b) => longer(a) - longer(b));
    if (!better) {
      message.append("Remove a filter, or search for a system, a measure, a label (table 4.8), a title or an author.");
      return;
    }
    const link = document.createElement("a");
    link.href = `#${new URLSearchParams({ ...want, q: better.suggestion })}`;
    link.textContent = better.suggestion;
    message.append("Did you mean ", link, "?");
  }

  // The address holds the search, so that it can be shared and the back button works.
  const address = () => {
    const fields = [...new FormData(form)].filter(([, value]) => value);
    return fields.length ? `#${new URLSearchParams(fields)}` : location.pathname;
  };
  function restore() {
    const hash = location.hash.slice(1);
    // The id of an element is not a search.
    if (hash && !hash.includes("=")) return;
    const query = new URLSearchParams(hash);
    for (const field of form.elements) if (field.name) field.value = query.get(field.name) ?? "";
    show();
  }
  form.addEventListener("input", (event) => {
    // Typing adds no entries to the history.
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
