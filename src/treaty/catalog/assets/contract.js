// What makes the pages of a contract nicer to use; every one of them can be read without it.
(() => {
  const all = (query, within = document) => [...within.querySelectorAll(query)];

  // Fields inside a field can be put away. Rows stand flat in the table; their depth says what is inside what.
  const inside = (row) => {
    const found = [];
    for (let next = row.nextElementSibling; next && +next.dataset.depth > +row.dataset.depth; next = next.nextElementSibling) found.push(next);
    return found;
  };
  // A row is away if any field around it is closed; walking once from the top keeps what is closed further in.
  const arrange = (table) => {
    let closedAt = Infinity;
    for (const row of table.tBodies[0].rows) {
      const depth = +row.dataset.depth;
      if (depth <= closedAt) closedAt = Infinity;
      row.classList.toggle("folded", depth > closedAt);
      const button = row.querySelector(".fold");
      if (closedAt === Infinity && button?.getAttribute("aria-expanded") === "false") closedAt = depth;
    }
  };
  for (const button of all(".tree .fold")) {
    const row = button.closest("tr");
    if (inside(row).length === 0) continue; // deeper than rows are told apart
    button.hidden = false;
    button.addEventListener("click", () => {
      button.setAttribute("aria-expanded", String(button.getAttribute("aria-expanded") !== "true"));
      arrange(row.closest("table"));
    });
  }
  for (const tools of all(".tree-tools")) tools.hidden = false;
  for (const button of all("[data-fold-all]")) {
    const where = document.getElementById(button.dataset.foldAll);
    const folds = all(".fold:not([hidden])", where);
    if (folds.length === 0) { button.hidden = true; continue; }
    button.addEventListener("click", () => {
      const open = folds.every((one) => one.getAttribute("aria-expanded") === "false");
      for (const one of folds) one.setAttribute("aria-expanded", String(open));
      for (const table of all("table.tree", where)) arrange(table);
      button.textContent = open ? "Collapse all" : "Expand all";
    });
  }

  // While somebody filters, what is closed counts for nothing, and a field shows what it stands in.
  for (const input of all("input[data-filter='trees']")) {
    input.addEventListener("input", () => {
      document.getElementById("trees").classList.toggle("filtering", input.value.trim() !== "");
    });
  }

  // A link to a field inside a closed one opens what is around it; a link to a kind opens its page.
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (target.tagName === "DETAILS") target.open = true;
    if (!target.classList.contains("folded")) return;
    let depth = +target.dataset.depth;
    for (let row = target.previousElementSibling; row && depth > 0; row = row.previousElementSibling) {
      if (+row.dataset.depth >= depth) continue;
      depth = +row.dataset.depth;
      row.querySelector(".fold")?.setAttribute("aria-expanded", "true");
    }
    arrange(target.closest("table"));
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();

  // Between two versions, what did not change is put away until it is asked for.
  for (const button of all("[data-unchanged]")) {
    const table = document.getElementById(button.dataset.unchanged);
    const label = button.textContent;
    button.hidden = false;
    button.setAttribute("aria-pressed", "false");
    table.classList.add("only-changes");
    button.addEventListener("click", () => {
      const away = table.classList.toggle("only-changes");
      button.setAttribute("aria-pressed", String(!away));
      button.textContent = away ? label : "Show only what changed";
    });
  }
})();
