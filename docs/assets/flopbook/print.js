// On paper nothing opens: what is folded is printed open, and closed again afterwards. The style sheet leaves BibTeX out.

export function startPrint() {
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("article details:not([open], .fb-menu, .fb-ref details)")];
    for (const one of opened) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
    opened = [];
  });
}
