// A value's source on hover, focus and touch, fetched from its vendor's file when it is first asked for.

import {el} from "../dom.js";

const GAP = 8;

export class Sources {
  constructor(host, model) {
    Object.assign(this, {host, model, files: new Map(), link: null});
    this.box = el("div", {class: "fb-source fb-pop", role: "tooltip", id: "fb-pop", hidden: true});
    host.append(this.box);
    const of = (event) => event.target.closest?.("td a");
    host.addEventListener("pointerover", (event) => event.pointerType === "mouse" && of(event) && this.open(of(event)));
    host.addEventListener("pointerout", (event) => event.pointerType === "mouse" && this.left(event));
    host.addEventListener("focusin", (event) => (of(event) ? this.open(of(event)) : this.close()));
    host.addEventListener("focusout", () => this.close());
    host.addEventListener("click", (event) => this.touched(event, of(event)));
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.close());
    document.addEventListener("pointerdown", (event) => this.link && !host.contains(event.target) && this.close());
    addEventListener("scroll", () => this.link && this.place(), {capture: true, passive: true});
  }

  left({relatedTarget}) {
    if (!this.link || this.box.contains(relatedTarget) || this.link.contains(relatedTarget)) return;
    if (relatedTarget?.closest?.("td a") || document.activeElement === this.link) return;
    this.close();
  }

  /** A finger cannot hover: its first touch tells the source, its second follows the link. */
  touched(event, link) {
    if (!link || event.pointerType !== "touch" || this.touchedLink === link) return;
    event.preventDefault();
    this.touchedLink = link;
    this.open(link, " Tap again to open the entry.");
  }

  async open(link, more = "") {
    if (this.link !== link) this.close();
    this.link = link;
    link.setAttribute("aria-describedby", this.box.id);
    const {entry, key} = this.subject(link);
    const said = this.model.data.sources[entry.values[key][2]];
    this.say(`Source: ${said}${more}`);
    const texts = await this.texts(entry.vendor);
    const text = texts?.[entry.id]?.[key];
    if (text && this.link === link) this.say(text + (more && `.${more}`));
  }

  /** Whose value it is, and of what: the cell says it, or its row and the head of its column. */
  subject(link) {
    const cell = link.closest("td");
    const head = cell.closest("table").tHead.rows[0].cells[cell.cellIndex];
    const id = cell.dataset.entry ?? cell.parentNode.dataset.id;
    return {entry: this.model.byId.get(id), key: cell.dataset.key ?? head.dataset.key};
  }

  say(text) {
    this.box.textContent = text;
    this.box.hidden = false;
    this.place();
  }

  close() {
    this.link?.removeAttribute("aria-describedby");
    this.link = null;
    this.box.hidden = true;
  }

  texts(vendor) {
    if (!this.files.has(vendor)) {
      const found = fetch(`${vendor}/sources.json`).then((answer) => (answer.ok ? answer.json() : null)).catch(() => null);
      this.files.set(vendor, found);
    }
    return this.files.get(vendor);
  }

  /** Below the value, or above where there is more room; along the lower edge on a narrow screen (the style sheet). */
  place() {
    this.box.style.left = this.box.style.top = "";
    if (matchMedia("(max-width: 44em)").matches) return;
    const value = this.link.getBoundingClientRect();
    const {width, height} = this.box.getBoundingClientRect();
    const below = value.bottom + height + GAP < innerHeight || value.top < height + GAP;
    this.box.style.left = `${Math.max(GAP, Math.min(value.right - width, innerWidth - width - GAP))}px`;
    this.box.style.top = `${below ? value.bottom + 1 : value.top - height - 1}px`;
  }
}
