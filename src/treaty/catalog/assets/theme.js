// Loaded before the page is rendered, so that the theme does not flash.
(() => {
  let chosen = null;
  try { chosen = localStorage.getItem("treaty-theme"); } catch { /* storage may be forbidden */ }
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
  document.documentElement.classList.add("scripted");
})();
