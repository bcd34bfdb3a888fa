// Graphs: highlight the dependencies of a node, and zoom. Without JavaScript, graphs scroll and links work.
(() => {
  const MIN_SCALE = 0.1;
  const MAX_SCALE = 2.5;
  const MIN_READABLE_SCALE = 0.66; // below this, text is unreadable and the graph scrolls instead
  const SCROLLING_SCALE = 0.8;
  const PHONE_WIDTH = 640; // on narrower screens the full graph is shown first, and people zoom in
  const ZOOM_STEP = 1.25;

  // Edges by node in both directions. Edges from a row also count for its node.
  const linksOf = (svg) => {
    const downstream = new Map();
    const upstream = new Map();
    const put = (map, key, value) => map.set(key, [...(map.get(key) ?? []), value]);
    for (const arrow of svg.querySelectorAll("[data-from]")) {
      const { from, to } = arrow.dataset;
      put(downstream, from, { to, arrow });
      if (from.includes(".")) put(downstream, from.split(".")[0], { to, arrow, row: from });
      put(upstream, to, { to: from, arrow });
    }
    return { downstream, upstream };
  };

  const walk = (links, start, highlighted) => {
    const waiting = [start];
    const seen = new Set(waiting);
    while (waiting.length) {
      const here = waiting.pop();
      for (const { to, arrow, row } of links.get(here) ?? []) {
        highlighted.add(arrow);
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

    const { downstream, upstream } = linksOf(svg);
    const nodes = new Map([...svg.querySelectorAll("[data-node]")].map((one) => [one.dataset.node, one]));
    const clear = () => {
      svg.classList.remove("tracing");
      for (const one of svg.querySelectorAll(".highlighted")) one.classList.remove("highlighted");
    };
    const trace = (name) => {
      clear();
      const highlighted = new Set();
      const upstreamFrom = name.split(".")[0]; // a field has the sources of its node
      for (const node of [...walk(downstream, name, highlighted), ...walk(upstream, upstreamFrom, highlighted)]) highlighted.add(nodes.get(node));
      for (const one of highlighted) one?.classList.add("highlighted");
      svg.classList.add("tracing");
    };
    const nodeAt = (event) => event.target.closest?.("[data-node]");
    const traceFocused = () => {
      const focused = svg.contains(document.activeElement) ? document.activeElement.closest("[data-node]") : null;
      if (focused && focused.matches(":focus-visible")) trace(focused.dataset.node); else clear();
    };
    svg.addEventListener("pointerover", (event) => { const node = nodeAt(event); if (node) trace(node.dataset.node); else traceFocused(); });
    svg.addEventListener("pointerleave", traceFocused);
    // Not on the SVG itself: browsers add an SVG with focus listeners to the tab order.
    view.addEventListener("focusin", (event) => { const node = nodeAt(event); if (node) trace(node.dataset.node); });
    view.addEventListener("focusout", clear);

    // Zooming changes the size of the SVG. Its container scrolls, so arrow keys work as usual.
    const width = Number(svg.getAttribute("width"));
    const height = Number(svg.getAttribute("height"));
    let scale = 1;
    const zoom = (wanted, x = view.clientWidth / 2, y = view.clientHeight / 2) => {
      const next = Math.min(MAX_SCALE, Math.max(MIN_SCALE, wanted));
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
    const zoomActions = { in: () => zoom(scale * ZOOM_STEP), out: () => zoom(scale / ZOOM_STEP), fit };
    const bar = graph.querySelector("[data-graph-bar]");
    bar.hidden = false;
    bar.addEventListener("click", (event) => zoomActions[event.target.closest("[data-zoom]")?.dataset.zoom]?.());
    const keys = { "+": zoomActions.in, "=": zoomActions.in, "-": zoomActions.out, "−": zoomActions.out, 0: fit };
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
    if (view.clientWidth < PHONE_WIDTH) fit();
    else if (first < 1) zoom(first < MIN_READABLE_SCALE ? SCROLLING_SCALE : first);
    const leftmost = () => [...svg.querySelectorAll(".box")]
      .reduce((one, other) => (one.getBoundingClientRect().left <= other.getBoundingClientRect().left ? one : other));
    const box = (svg.querySelector(".origin") ?? leftmost()).getBoundingClientRect();
    const frame = view.getBoundingClientRect();
    const above = Math.max((frame.height - box.height) / 2, 16); // if the node is taller than the view, show its heading
    view.scrollBy(box.left + box.width / 2 - frame.left - frame.width / 2, box.top - frame.top - above);
  }
})();
