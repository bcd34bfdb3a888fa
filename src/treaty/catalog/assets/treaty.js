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

// "/" focuses the search field.
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (/^(input|textarea|select)$/i.test(event.target.tagName) || event.target.isContentEditable) return;
  const field = document.querySelector("[data-search-field]");
  if (field) { event.preventDefault(); field.focus(); field.select(); }
});
