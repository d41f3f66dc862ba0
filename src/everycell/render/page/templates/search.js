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

  // Write labels as in the paper: "table 4.8" for KEY/table_4_8 and KEY_table_4_8.
  const asPublished = (text) => text.toLowerCase().replace(
    /(^|[\s/_])(table|figure|text)_([0-9a-z]+(?:_[0-9a-z]+)*)/g,
    (_, before, kind, number) => `${before === "_" ? " " : before}${kind} ${number.replaceAll("_", ".")}`);
  const words = (text) => asPublished(text)
    .split(/[\s/,;:()"'’“”–-]+/)
    .map((word) => word.replace(/^\.+|\.+$/g, ""))
    .filter(Boolean);
  // In "Table 4.8 of KEY", all words must match except for these.
  const STOP_WORDS = new Set(["in", "of", "the"]);
  const normalise = (word) => !STOP_WORDS.has(word) &&
    word.normalize("NFD").replace(/\p{M}/gu, "").replaceAll("ł", "l");

  const index = new MiniSearch({
    fields: ["label", "key", "title", "heading", "chapter", "authors", "words"],
    tokenize: words,
    processTerm: normalise,
    searchOptions: {
      combineWith: "AND",
      boost: { label: 8, key: 4, title: 2, chapter: 0.1, words: 0.5 },
      prefix: true,
      // No normalisation by length: long titles are not penalised.
      bm25: { k: 1.2, b: 0, d: 0.5 },
      // Numbers are matched exactly.
      fuzzy: (word) => (word.length > 4 && !/\d/.test(word) ? 0.2 : false),
    },
  });
  index.addAll(artefacts);

  // Tier, state and verdict must match in the same tier, because they differ between tiers.
  function matchesFilters(artefact, query) {
    if (query.in && artefact.work !== query.in && artefact.chapter !== query.in) return false;
    const tiers = artefact.tiers.filter((tier) =>
      (!query.tier || tier.name === query.tier) && (!query.state || tier.state === query.state));
    if (!tiers.length) return false;
    if (!query.verdict) return true;
    if (!query.tier && !query.state) return artefact.verdicts.includes(query.verdict);
    return tiers.some((tier) => tier.verdicts.includes(query.verdict));
  }

  function show() {
    const query = Object.fromEntries(new FormData(form));
    const active = Object.values(query).some(Boolean);
    const ranked = query.q.trim()
      ? index.search(query.q).map((result) => artefacts[result.id])
      : artefacts;
    const matches = active ? ranked.filter((artefact) => matchesFilters(artefact, query)) : [];
    list.replaceChildren(...matches.map((artefact) => artefact.row.cloneNode(true)));
    hits.hidden = !matches.length;
    message.textContent = !active ? "" : matches.length ? `${matches.length} of ${artefacts.length} artefacts` : "No matches. ";
    if (active && !matches.length) suggest(query);
    // Keep the form visible above the matches.
    if (matches.length) scrollTo({ top: form.parentElement.offsetTop });
  }

  // Suggest another spelling, if it is close to words in the tables, titles or authors.
  function suggest(query) {
    const suggestions = query.q.trim() && !index.search(query.q).length
      ? index.autoSuggest(query.q, { fuzzy: 0.4, prefix: false, combineWith: "AND" })
      : [];
    // Most typing errors keep the length of a word, so prefer suggestions of the same length.
    const distance = ({ suggestion }) => Math.abs(suggestion.length - query.q.trim().length);
    const [best] = [...suggestions].sort((a, b) => distance(a) - distance(b));
    if (!best) {
      message.append("Remove a filter, or search for a system, a measure, a label (table 4.8), a title or an author.");
      return;
    }
    const link = document.createElement("a");
    link.href = `#${new URLSearchParams({ ...query, q: best.suggestion })}`;
    link.textContent = best.suggestion;
    message.append("Did you mean ", link, "?");
  }

  // The address contains the search, so that it can be shared and the back button works.
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
    // Typing does not add entries to the history.
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
