// Loaded before the page is drawn, so that a chosen theme never flashes.
(() => {
  let chosen = null;
  try { chosen = localStorage.getItem("treaty-theme"); } catch { /* storage may be forbidden */ }
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
  document.documentElement.classList.add("scripted");
})();
