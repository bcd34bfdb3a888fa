// Graphs: trace what a box rests on and carries, and look closer. Without this they scroll, and their links work.
(() => {
  const LEAST = 0.25;
  const MOST = 2.5;
  const READABLE = 0.66; // smaller than this, texts cannot be read: then it scrolls instead
  const SCROLLED = 0.8;
  const STEP = 1.25;

  // Who feeds whom; a box with rows is left from its rows, too.
  const linksOf = (svg) => {
    const onward = new Map();
    const back = new Map();
    const put = (map, key, value) => map.set(key, [...(map.get(key) ?? []), value]);
    for (const arrow of svg.querySelectorAll("[data-from]")) {
      const { from, to } = arrow.dataset;
      put(onward, from, { to, arrow });
      if (from.includes(".")) put(onward, from.split(".")[0], { to, arrow, row: from });
      put(back, to, { to: from, arrow });
    }
    return { onward, back };
  };

  const walk = (links, start, lit) => {
    const waiting = [start];
    const seen = new Set(waiting);
    while (waiting.length) {
      const here = waiting.pop();
      for (const { to, arrow, row } of links.get(here) ?? []) {
        lit.add(arrow);
        for (const node of [to, to.split(".")[0], row]) {
          if (!node || seen.has(node)) continue;
          seen.add(node);
          if (node !== row) waiting.push(node);
        }
      }
    }
    return seen;
  };

  for (const graph of document.querySelectorAll("[data-graph]")) {
    const svg = graph.querySelector(".graph-view > svg");
    if (!svg) continue;
    const view = svg.parentElement;

    const { onward, back } = linksOf(svg);
    const nodes = new Map([...svg.querySelectorAll("[data-node]")].map((one) => [one.dataset.node, one]));
    const clear = () => {
      svg.classList.remove("tracing");
      for (const one of svg.querySelectorAll(".lit")) one.classList.remove("lit");
    };
    const trace = (name) => {
      clear();
      const lit = new Set();
      const upstreamFrom = name.split(".")[0]; // a field rests on whatever its box rests on
      for (const node of [...walk(onward, name, lit), ...walk(back, upstreamFrom, lit)]) lit.add(nodes.get(node));
      for (const one of lit) one?.classList.add("lit");
      svg.classList.add("tracing");
    };
    const nodeAt = (event) => event.target.closest?.("[data-node]");
    const settle = () => {
      const kept = svg.contains(document.activeElement) ? document.activeElement.closest("[data-node]") : null;
      if (kept && kept.matches(":focus-visible")) trace(kept.dataset.node); else clear();
    };
    svg.addEventListener("pointerover", (event) => { const node = nodeAt(event); if (node) trace(node.dataset.node); else settle(); });
    svg.addEventListener("pointerleave", settle);
    // Not on the drawing itself: browsers let Tab stop at an SVG that listens to focus.
    view.addEventListener("focusin", (event) => { const node = nodeAt(event); if (node) trace(node.dataset.node); });
    view.addEventListener("focusout", clear);

    // Looking closer changes the size of the drawing; its view scrolls, so arrow keys move it as everywhere.
    const width = Number(svg.getAttribute("width"));
    const height = Number(svg.getAttribute("height"));
    let scale = 1;
    const zoom = (wanted, x = view.clientWidth / 2, y = view.clientHeight / 2) => {
      const next = Math.min(MOST, Math.max(LEAST, wanted));
      const before = svg.getBoundingClientRect();
      const frame = view.getBoundingClientRect();
      const at = { x: (x + frame.left - before.left) / before.width, y: (y + frame.top - before.top) / before.height };
      scale = next;
      svg.setAttribute("width", Math.round(width * scale));
      svg.setAttribute("height", Math.round(height * scale));
      const after = svg.getBoundingClientRect();
      view.scrollBy(after.left + at.x * after.width - frame.left - x, after.top + at.y * after.height - frame.top - y);
    };
    const fit = () => zoom(Math.min(1, (view.clientWidth - 2) / width, Math.max(view.clientHeight - 2, 320) / height));
    const ways = { in: () => zoom(scale * STEP), out: () => zoom(scale / STEP), fit };
    const bar = graph.querySelector("[data-graph-bar]");
    bar.hidden = false;
    bar.addEventListener("click", (event) => ways[event.target.closest("[data-zoom]")?.dataset.zoom]?.());
    const keys = { "+": ways.in, "=": ways.in, "-": ways.out, "−": ways.out, 0: fit };
    graph.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
      if (!view.contains(event.target) && !bar.contains(event.target)) return;
      event.preventDefault();
      keys[event.key]();
    });
    view.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      const frame = view.getBoundingClientRect();
      zoom(scale * Math.exp(-event.deltaY / 400), event.clientX - frame.left, event.clientY - frame.top);
    }, { passive: false });

    const first = Math.min(1, (view.clientWidth - 2) / width);
    if (first < 1) zoom(first < READABLE ? SCROLLED : first);
    const leftmost = () => [...svg.querySelectorAll(".box")]
      .reduce((one, other) => (one.getBoundingClientRect().left <= other.getBoundingClientRect().left ? one : other));
    const box = (svg.querySelector(".origin") ?? leftmost()).getBoundingClientRect();
    const frame = view.getBoundingClientRect();
    const above = Math.max((frame.height - box.height) / 2, 16); // of what is higher than the view, the heading counts
    view.scrollBy(box.left + box.width / 2 - frame.left - frame.width / 2, box.top - frame.top - above);
  }
})();
