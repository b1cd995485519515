// A button that copies a block. Of a terminal session it copies what is typed, not what is answered.

export function copyable(block) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "fb-button fb-copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    button.textContent = (await copyText(textOf(block))) ? "Copied" : "Selected";
    if (button.textContent === "Selected") getSelection().selectAllChildren(block);
    setTimeout(() => { button.textContent = "Copy"; }, 3000);
  });
  block.before(button);
}

function textOf(block) {
  if (!block.closest(".language-console")) return block.textContent;
  const typed = block.textContent.split("\n").filter((line) => line.startsWith("$ "));
  return typed.length ? typed.map((line) => line.slice(2)).join("\n") : block.textContent;
}

/** True when the browser let us write to the clipboard. */
export async function copyText(text) {
  if (!text) return false;
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
