// Loads a dropped or selected file into the text area, so that users can edit it before the check.
const fill = async (box, file) => {
  // Files that are too large are sent to the server, which explains the limit.
  if (!file || file.size > 3_000_000) return false;
  box.value = await file.text();
  box.focus();
  box.setSelectionRange(0, 0);
  document.getElementById("announcements").textContent = `${file.name} loaded`;
  return true;
};
for (const hint of document.querySelectorAll("[data-scripted]")) hint.hidden = false;
for (const box of document.querySelectorAll("textarea[data-drop]")) {
  const markTarget = (event) => { event.preventDefault(); box.classList.add("drop-target"); };
  box.addEventListener("dragenter", markTarget);
  box.addEventListener("dragover", markTarget);
  box.addEventListener("dragleave", () => box.classList.remove("drop-target"));
  box.addEventListener("drop", (event) => {
    event.preventDefault();
    box.classList.remove("drop-target");
    fill(box, event.dataTransfer.files[0]);
  });
}
for (const input of document.querySelectorAll("input[data-file]")) {
  input.addEventListener("change", async () => {
    // Clear the file input: the server prefers a file over the edited text.
    if (await fill(document.getElementById(input.dataset.file), input.files[0])) input.value = "";
  });
}
