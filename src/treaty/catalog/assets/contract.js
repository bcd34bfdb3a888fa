// Enhancements of the contract pages. All pages work without JavaScript.
(() => {
  const all = (query, within = document) => [...within.querySelectorAll(query)];

  // Nested fields can be collapsed. The table is flat; data-depth gives the nesting.
  const childRows = (row) => {
    const found = [];
    for (let next = row.nextElementSibling; next && +next.dataset.depth > +row.dataset.depth; next = next.nextElementSibling) found.push(next);
    return found;
  };
  // A row is hidden if any parent is collapsed. One pass from the top keeps the state of nested rows.
  const updateRows = (table) => {
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
    if (childRows(row).length === 0) continue; // deeper than the indentation shows
    button.hidden = false;
    button.addEventListener("click", () => {
      button.setAttribute("aria-expanded", String(button.getAttribute("aria-expanded") !== "true"));
      updateRows(row.closest("table"));
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
      for (const table of all("table.tree", where)) updateRows(table);
      button.textContent = open ? "Collapse all" : "Expand all";
    });
  }

  // While filtering, collapsed rows are shown and fields show their full path.
  for (const input of all("input[data-filter='trees']")) {
    input.addEventListener("input", () => {
      document.getElementById("trees").classList.toggle("filtering", input.value.trim() !== "");
    });
  }

  // A link to a nested field expands its parents; a link to a kind opens its details.
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
    updateRows(target.closest("table"));
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();

  // Unchanged fields of a comparison are hidden until requested.
  for (const button of all("[data-unchanged]")) {
    const table = document.getElementById(button.dataset.unchanged);
    const label = button.textContent;
    button.hidden = false;
    button.setAttribute("aria-pressed", "false");
    table.classList.add("only-changes");
    button.addEventListener("click", () => {
      const isHidden = table.classList.toggle("only-changes");
      button.setAttribute("aria-pressed", String(!isHidden));
      button.textContent = isHidden ? label : "Show only changes";
    });
  }
})();
