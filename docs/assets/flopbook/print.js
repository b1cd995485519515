// On paper nothing opens: what is folded is printed open, and closed again afterwards. The style sheet leaves BibTeX out, and
// the fields that a form does not ask at first stay folded: closed, they say which of them are set.

export function startPrint() {
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("article details:not([open], .fb-menu, .fb-ref details, .fb-typed, .fb-typed details)")];
    for (const one of opened) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
    opened = [];
  });
}
