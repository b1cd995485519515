// A value's source opens on hover, focus and touch, beside the value and inside the window whatever box it is in, and closes
// with Escape or a touch elsewhere. Without this file the style sheet still shows it on hover and focus.

const GAP = 8;

export function startTips() {
  const tips = [...document.querySelectorAll(".fb-tip")];
  if (!tips.length) return;
  let open = null;

  const show = (tip) => {
    if (open !== tip) open?.classList.remove("fb-open");
    open = tip;
    tip.classList.remove("fb-closed");
    tip.classList.add("fb-open", "fb-placed");
    place(tip, tip.querySelector(".fb-source"));
  };
  const hide = (tip, closed = false) => {
    tip.classList.remove("fb-open");
    tip.classList.toggle("fb-closed", closed);
    if (open === tip) open = null;
  };

  for (const tip of tips) {
    tip.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && show(tip));
    tip.addEventListener("pointerleave", (event) => {
      if (event.pointerType === "mouse" && !tip.contains(document.activeElement)) hide(tip);
    });
    tip.addEventListener("focusin", () => show(tip));
    tip.addEventListener("focusout", () => hide(tip));
    // Not every browser gives the focus to a button that was touched.
    tip.addEventListener("click", () => show(tip));
  }
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const tip of tips) if (tip === open || tip.matches(":hover, :focus-within")) hide(tip, true);
  });
  document.addEventListener("pointerdown", (event) => {
    if (open && !open.contains(event.target)) hide(open);
  });
  addEventListener("scroll", () => open && place(open, open.querySelector(".fb-source")), {capture: true, passive: true});
  addEventListener("resize", () => open && place(open, open.querySelector(".fb-source")));
}

/** A box below what it belongs to, or above where there is more room; never beyond the edge of the window. */
export function place(tip, box) {
  box.style.left = box.style.top = "";
  if (matchMedia("(max-width: 44em)").matches) return; // the style sheet shows it along the lower edge
  const value = tip.getBoundingClientRect();
  const {width, height} = box.getBoundingClientRect();
  const left = Math.min(Math.max(value.right - width, GAP), innerWidth - width - GAP);
  const below = value.bottom + height + GAP < innerHeight || value.top < height + GAP;
  box.style.left = `${Math.max(left, GAP)}px`;
  box.style.top = `${below ? value.bottom : value.top - height}px`;
}
