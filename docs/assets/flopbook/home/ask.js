// "Will it train?" and "Will it serve?" on the first page: the planners of their pages, asked for model, chip and number alone.
// What this needs comes when the reader first touches a form.

export function startAsk(form) {
  const status = form.querySelector(".fb-said");
  let asking;
  const load = () => {
    asking ??= import("../plan/asker.js").then(({asker}) => asker(form.dataset.ask, {host: form, form, status}, (kind, pairs) => {
      if (kind) status.replaceChildren(...pairs.flatMap((pair) => kind.verdict(pair, pairs)));
    }));
    return asking;
  };
  form.addEventListener("focusin", load, {once: true});
  form.addEventListener("input", async () => (await load())());
}
