// A file that is dropped on the box, or chosen, is put into it, so that it can be edited before it is checked.
const fill = async (box, file) => {
  // What the server would refuse as too large is left to the server, which says so in words.
  if (!file || file.size > 3_000_000) return false;
  box.value = await file.text();
  box.focus();
  box.setSelectionRange(0, 0);
  document.getElementById("announcements").textContent = `${file.name} is in the box`;
  return true;
};
for (const hint of document.querySelectorAll("[data-scripted]")) hint.hidden = false;
for (const box of document.querySelectorAll("textarea[data-drop]")) {
  const over = (event) => { event.preventDefault(); box.classList.add("over"); };
  box.addEventListener("dragenter", over);
  box.addEventListener("dragover", over);
  box.addEventListener("dragleave", () => box.classList.remove("over"));
  box.addEventListener("drop", (event) => {
    event.preventDefault();
    box.classList.remove("over");
    fill(box, event.dataTransfer.files[0]);
  });
}
for (const input of document.querySelectorAll("input[data-file]")) {
  input.addEventListener("change", async () => {
    // The box is what is sent from now on: the file itself would hide what is edited in it.
    if (await fill(document.getElementById(input.dataset.file), input.files[0])) input.value = "";
  });
}
