// Enhancements of all pages. Pages work without JavaScript.
const byQuery = (query, within = document) => [...within.querySelectorAll(query)];

// Theme: the system setting, unless the user selects one.
const root = document.documentElement;
const isDark = () => root.dataset.theme
  ? root.dataset.theme === "dark"
  : matchMedia("(prefers-color-scheme: dark)").matches;
for (const button of byQuery("[data-theme-switch]")) {
  const updateButton = () => button.setAttribute("aria-pressed", String(isDark()));
  button.hidden = false;
  updateButton();
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("treaty-theme", root.dataset.theme); } catch { /* the choice then applies to this page only */ }
    updateButton();
  });
}

// Copy buttons: data-copy is the id of the element to copy.
const announce = (text) => {
  const live = document.getElementById("announcements");
  if (live) live.textContent = text;
};
for (const button of byQuery("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copy);
    const label = button.textContent;
    try {
      await navigator.clipboard.writeText(source.textContent.trim());
      button.textContent = "Copied";
      announce("Copied to the clipboard");
    } catch {
      getSelection().selectAllChildren(source);
      button.textContent = "Selected: press Ctrl+C";
    }
    setTimeout(() => { button.textContent = label; }, 2000);
  });
}

// Filter fields: data-filter is the id of the table, data-words is the text of a row to search.
for (const input of byQuery("input[data-filter]")) {
  input.closest("[hidden]")?.removeAttribute("hidden");
  input.hidden = false;
  const rows = byQuery("[data-words]", document.getElementById(input.dataset.filter));
  const none = document.getElementById(`${input.dataset.filter}-none`);
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const matches = words.every((word) => row.dataset.words.includes(word));
      row.hidden = !matches;
      shown += matches ? 1 : 0;
    }
    if (none) none.hidden = shown > 0;
    announce(`${shown} of ${rows.length} shown`);
  });
}

// Search while typing: the server renders the results, and this script replaces them.
for (const form of byQuery("form[data-search]")) {
  const results = document.getElementById(form.dataset.search);
  let running = null;
  let timer = null;
  const search = async () => {
    running?.abort();
    running = new AbortController();
    const query = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (value) query.append(name, value);
    const url = `${form.getAttribute("action")}?${query}`;
    try {
      const answer = await fetch(url, { headers: { Accept: "text/html" }, signal: running.signal });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      results.replaceChildren(...page.getElementById(results.id).childNodes);
      history.replaceState(null, "", url);
      announce(results.querySelector("[data-summary]")?.textContent ?? "");
    } catch (error) {
      if (error.name !== "AbortError") form.submit();
    }
  };
  form.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(search, 120); });
  form.addEventListener("change", search);
}

// Search in the header: the first results of the list of contracts, below the field, on every page.
const MAX_QUICK_RESULTS = 8;
for (const form of byQuery("form[data-quick-search]")) {
  const field = form.querySelector("input");
  const list = document.createElement("ul");
  list.className = "quick-results";
  list.setAttribute("aria-label", "Search results");
  list.hidden = true;
  form.append(list);
  let running = null;
  let timer = null;
  const close = () => { running?.abort(); list.hidden = true; };
  const row = (...content) => { const item = document.createElement("li"); item.append(...content); return item; };
  const linkToAll = (url, text) => { const link = document.createElement("a"); link.href = url; link.textContent = text; return link; };
  const search = async () => {
    running?.abort();
    if (!field.value.trim()) { close(); return; }
    running = new AbortController();
    const url = `${form.getAttribute("action")}?${new URLSearchParams({ q: field.value })}`;
    try {
      const answer = await fetch(url, { headers: { Accept: "text/html" }, signal: running.signal });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const rows = byQuery("#results tbody tr", page);
      list.replaceChildren(...rows.slice(0, MAX_QUICK_RESULTS).map((one) => row(...byQuery("th a, th .match", one))));
      if (rows.length > MAX_QUICK_RESULTS) list.append(row(linkToAll(url, "Show all results")));
      if (!rows.length) list.append(row("No matching contracts."));
      list.hidden = false;
      announce(page.querySelector("[data-summary]")?.textContent ?? "");
    } catch (error) {
      if (error.name !== "AbortError") close();
    }
  };
  field.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(search, 120); });
  form.addEventListener("focusout", (event) => { if (!form.contains(event.relatedTarget)) close(); });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { close(); field.focus(); return; }
    if (list.hidden || (event.key !== "ArrowDown" && event.key !== "ArrowUp")) return;
    const stops = [field, ...byQuery("a", list)];
    const next = stops[stops.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1)];
    if (next) { event.preventDefault(); next.focus(); }
  });
}

// "/" focuses the search field.
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (/^(input|textarea|select)$/i.test(event.target.tagName) || event.target.isContentEditable) return;
  const field = document.querySelector("[data-search-field]");
  if (field) { event.preventDefault(); field.focus(); field.select(); }
});
