// What makes pages nicer to use; every page can be read without it.
const byQuery = (query, within = document) => [...within.querySelectorAll(query)];

// The theme: the system's, until somebody chooses.
const root = document.documentElement;
const darkNow = () => root.dataset.theme
  ? root.dataset.theme === "dark"
  : matchMedia("(prefers-color-scheme: dark)").matches;
for (const button of byQuery("[data-theme-switch]")) {
  const say = () => button.setAttribute("aria-pressed", String(darkNow()));
  button.hidden = false;
  say();
  button.addEventListener("click", () => {
    root.dataset.theme = darkNow() ? "light" : "dark";
    try { localStorage.setItem("treaty-theme", root.dataset.theme); } catch { /* then it holds for this page */ }
    say();
  });
}

// A button beside something worth copying: data-copy names the element whose text it is.
const announce = (words) => {
  const live = document.getElementById("announcements");
  if (live) live.textContent = words;
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

// A field that narrows the rows of a table: data-filter names the table; rows say in data-words what they are about.
for (const input of byQuery("input[data-filter]")) {
  input.closest("[hidden]")?.removeAttribute("hidden");
  input.hidden = false;
  const rows = byQuery("[data-words]", document.getElementById(input.dataset.filter));
  const none = document.getElementById(`${input.dataset.filter}-none`);
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    for (const row of rows) {
      const fits = words.every((word) => row.dataset.words.includes(word));
      row.hidden = !fits;
      left += fits ? 1 : 0;
    }
    if (none) none.hidden = left > 0;
    announce(`${left} of ${rows.length} shown`);
  });
}

// The list of contracts answers while one types: the server draws the results, this puts them in place.
for (const form of byQuery("form[data-search]")) {
  const results = document.getElementById(form.dataset.search);
  let running = null;
  let timer = null;
  const ask = async () => {
    running?.abort();
    running = new AbortController();
    const asked = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (value) asked.append(name, value);
    const address = `${form.getAttribute("action")}?${asked}`;
    try {
      const answer = await fetch(address, { headers: { Accept: "text/html" }, signal: running.signal });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      results.replaceChildren(...page.getElementById(results.id).childNodes);
      history.replaceState(null, "", address);
      announce(results.querySelector("[data-summary]")?.textContent ?? "");
    } catch (error) {
      if (error.name !== "AbortError") form.submit();
    }
  };
  form.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(ask, 120); });
  form.addEventListener("change", ask);
}

// "/" goes to the search, as people of this trade expect.
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (/^(input|textarea|select)$/i.test(event.target.tagName) || event.target.isContentEditable) return;
  const search = document.querySelector("[data-search-field]");
  if (search) { event.preventDefault(); search.focus(); search.select(); }
});
