// Search of the list of contracts in a static site. The search entries are in scripts next to the pages, because
// a page opened from a folder cannot fetch data; each script calls treatySearch.
const MAX_ROWS = 200;

for (const form of document.querySelectorAll("form[data-static-search]")) {
  const results = document.getElementById(form.dataset.staticSearch);
  const summary = results.querySelector("[data-summary]");
  const rows = results.querySelector("tbody");
  const parts = results.querySelector("nav.parts");
  const initial = { summary: summary.textContent, rows: [...rows.children] };
  const files = form.dataset.files.split(" ").filter(Boolean);
  const known = new Array(files.length);
  let loading = null;

  globalThis.treatySearch = (number, entries) => { known[number - 1] = entries; };

  // Loaded on the first search.
  const load = () => loading ??= Promise.all(files.map((file) => new Promise((loaded, failed) => {
    const script = document.createElement("script");
    script.src = file;
    script.addEventListener("load", loaded);
    script.addEventListener("error", failed);
    document.head.append(script);
  })));

  const announceSummary = (text) => {
    summary.textContent = text;
    const live = document.getElementById("announcements");
    if (live) live.textContent = text;
  };

  const show = (matches) => {
    // The rows were rendered and escaped together with this page.
    const template = document.createElement("template");
    template.innerHTML = matches.slice(0, MAX_ROWS).map((entry) => entry[2]).join("");
    rows.replaceChildren(template.content);
    if (matches.length === 0) announceSummary("No matching contracts.");
    else if (matches.length > MAX_ROWS) announceSummary(`${matches.length} matching contracts; the first ${MAX_ROWS} are shown.`);
    else announceSummary(matches.length === 1 ? "1 matching contract." : `${matches.length} matching contracts.`);
  };

  const search = async () => {
    const query = Object.fromEntries(new FormData(form));
    // The entries are case-folded, which turns ß into ss.
    const words = query.q.toLowerCase().replaceAll("ß", "ss").split(/\s+/).filter(Boolean)
      .map((word) => (/[^s]s$/.test(word) && word.length > 3 ? word.slice(0, -1) : word)); // a plural finds the singular
    const chosen = Object.entries(query).filter(([name, value]) => name !== "q" && value);
    const isAll = words.length === 0 && chosen.length === 0;
    if (parts) parts.hidden = !isAll;
    if (isAll) {
      rows.replaceChildren(...initial.rows);
      announceSummary(initial.summary);
      return;
    }
    try {
      await load();
    } catch {
      announceSummary("The search index could not be loaded. Build the site again.");
      return;
    }
    const now = Object.fromEntries(new FormData(form));
    if (JSON.stringify(now) !== JSON.stringify(query)) return; // outdated: a later call shows the result
    show(known.flat().filter(([text, values]) => words.every((word) => text.includes(word))
      && chosen.every(([name, value]) => [values[name]].flat().includes(value))));
  };

  form.hidden = false;
  form.addEventListener("input", search);
  form.addEventListener("submit", (event) => { event.preventDefault(); search(); });
  if ([...new FormData(form).values()].some(Boolean)) search(); // browsers restore form fields
}
