// The list of contracts in a static site: without a server, what is searched stands in files beside the pages.
// They are scripts and no data, because a page opened from a folder may not fetch anything; each calls treatySearch.
const MOST_ROWS = 200;

for (const form of document.querySelectorAll("form[data-static-search]")) {
  const results = document.getElementById(form.dataset.staticSearch);
  const summary = results.querySelector("[data-summary]");
  const rows = results.querySelector("tbody");
  const parts = results.querySelector("nav.parts");
  const asShown = { summary: summary.textContent, rows: [...rows.children] };
  const files = form.dataset.files.split(" ").filter(Boolean);
  const known = new Array(files.length);
  let loading = null;

  globalThis.treatySearch = (number, entries) => { known[number - 1] = entries; };

  // Loaded with the first thing that is looked for: a list that is only read needs none of it.
  const load = () => loading ??= Promise.all(files.map((file) => new Promise((loaded, failed) => {
    const script = document.createElement("script");
    script.src = file;
    script.addEventListener("load", loaded);
    script.addEventListener("error", failed);
    document.head.append(script);
  })));

  const say = (words) => {
    summary.textContent = words;
    const live = document.getElementById("announcements");
    if (live) live.textContent = words;
  };

  const show = (found) => {
    // Rows were drawn, and everything in them escaped, by what drew this page.
    const drawn = document.createElement("template");
    drawn.innerHTML = found.slice(0, MOST_ROWS).map((entry) => entry[2]).join("");
    rows.replaceChildren(drawn.content);
    if (found.length === 0) say("Nothing fits. Try fewer words.");
    else if (found.length > MOST_ROWS) say(`${found.length} contracts fit; the first ${MOST_ROWS} are shown. Add a word to see fewer.`);
    else say(found.length === 1 ? "1 contract fits." : `${found.length} contracts fit.`);
  };

  const narrow = async () => {
    const asked = Object.fromEntries(new FormData(form));
    // The words were folded, which writes ß as ss.
    const words = asked.q.toLowerCase().replaceAll("ß", "ss").split(/\s+/).filter(Boolean);
    const chosen = Object.entries(asked).filter(([name, value]) => name !== "q" && value);
    const isAll = words.length === 0 && chosen.length === 0;
    if (parts) parts.hidden = !isAll;
    if (isAll) {
      rows.replaceChildren(...asShown.rows);
      say(asShown.summary);
      return;
    }
    try {
      await load();
    } catch {
      say("What is searched could not be loaded: the site is not whole. Build it again.");
      return;
    }
    const now = Object.fromEntries(new FormData(form));
    if (JSON.stringify(now) !== JSON.stringify(asked)) return; // somebody typed on: a later call answers
    show(known.flat().filter(([said, has]) => words.every((word) => said.includes(word))
      && chosen.every(([name, value]) => [has[name]].flat().includes(value))));
  };

  form.hidden = false;
  form.addEventListener("input", narrow);
  form.addEventListener("submit", (event) => { event.preventDefault(); narrow(); });
  if ([...new FormData(form).values()].some(Boolean)) narrow(); // a browser keeps fields for who comes back
}
