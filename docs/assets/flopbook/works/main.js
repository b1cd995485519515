// Makes filters, search, choice and export from the plain lists of works, with the state in the address.

import {Address, among, number, parse} from "../explorer/address.js";
import {button, check, choice, el} from "../dom.js";
import {save} from "../files.js";
import {Facet, cleared, filtered, finder, foldButton, linkButton, showFields, telling, years} from "../explorer/panel.js";
import {FILTERS, Library, SORTS} from "./library.js";
import {List} from "./list.js";

const NORMAL = {
  find: "", topic: [], kind: [], vendor: [], from: "", to: "", code: false, sources: false, notes: false, sort: "newest",
  pick: [],
};

class Works {
  constructor(host, library) {
    Object.assign(this, {host, library});
    const change = (patch, typing) => this.change(patch, typing);
    this.build(host.querySelector(".fb-panel"), change);
    this.list = new List(host, library, change, () => this.show(this.said ?? []));
    this.address = new Address({normal: NORMAL, read: (search) => this.read(search), show: (said) => this.show(said)});
  }

  async start() {
    await this.complete(new URLSearchParams(location.search));
    this.address.restore();
    if (location.hash.length > 1 && !this.library.byId.has(location.hash.slice(1))) await this.library.earlier().catch(() => {});
    const asked = this.library.byId.get(location.hash.slice(1));
    if (!asked) return;
    this.list.all = true;
    this.show([]);
    // Rows that are far away have estimated heights: all are laid out, so that the one that is asked for lies where it is.
    for (const {node} of this.library.works) node.style.contentVisibility = "visible";
    this.asked = asked.node;
  }

  /** What a link needs that this page does not bring: the sources, when it asks for them or for one of them. */
  async complete(asked) {
    if (asked.size) await this.library.earlier().catch(() => {});
    const picked = (asked.get("pick") ?? "").split(",").filter(Boolean);
    if (asked.get("sources") !== "1" && picked.every((id) => this.library.byId.has(id))) return;
    await this.library.sources().catch(() => {});
  }

  read(search) {
    const {facets, byId} = this.library;
    const allowed = {
      topic: (one) => this.library.below.has(one), kind: (one) => one === facets.source || facets.kinds.includes(one),
      vendor: (one) => Object.hasOwn(facets.vendors, one), sort: (one) => Object.hasOwn(SORTS, one), pick: (one) => byId.has(one),
    };
    return parse(search, NORMAL, (key, value, normal, refuse) => {
      if (key === "from" || key === "to") return number(value, normal, refuse);
      return allowed[key] ? among(allowed[key], value, normal, refuse) : value;
    });
  }

  build(panel, change) {
    const {facets} = this.library;
    this.facets = [
      new Facet("topic", "Topic", facets.topics, change),
      new Facet("kind", "Type", facets.kinds.map((kind) => [kind, kind]), change),
      new Facet("vendor", "Vendor", Object.entries(facets.vendors), change),
    ];
    const find = finder("title, author, note", change);
    find.addEventListener("focus", () => this.fetchNotes());
    const {from, to, root} = years(change);
    const boxes = [["code", "with code"], ["notes", "show notes"], ["sources", "sources of values too"]]
      .map(([name, text]) => [name, check(text, false, (value) => change({[name]: value}))]);
    const sort = choice("Order", Object.entries(SORTS), NORMAL.sort, (value) => change({sort: value}));
    this.controls = {find, from, to, sort: sort.querySelector("select")};
    for (const [name, label] of boxes) this.controls[name] = label.querySelector("input");
    this.bar = el("div", {class: "fb-bar", role: "search", "aria-label": "Filters"},
      el("div", {class: "fb-row fb-facets"}, el("label", {class: "fb-choice fb-grow"}, el("span", {}, "Find"), find),
        ...this.facets.map((facet) => facet.root), root, sort),
      el("div", {class: "fb-row fb-facets"}, ...boxes.map(([, label]) => label)));
    this.count = el("span", {role: "status", class: "fb-count"});
    this.reset = button("Clear filters", () => change(cleared(NORMAL, FILTERS)));
    this.drop = button("Clear choice", () => change({pick: []}));
    this.unknown = el("p", {class: "fb-wrong", role: "status"});
    const head = el("div", {class: "fb-head"}, el("span", {class: "fb-row fb-found"}, this.count, this.reset, this.drop),
      el("span", {class: "fb-row"}, foldButton(this.bar), this.exporter("BibTeX"), this.exporter("CSL-JSON"), linkButton()));
    panel.append(this.bar, head, this.unknown);
  }

  get state() {
    return this.address.state;
  }

  change({toggle, ...patch}, typing = false) {
    const {pick} = this.state;
    if (toggle) patch.pick = pick.includes(toggle) ? pick.filter((id) => id !== toggle) : [...pick, toggle];
    if (filtered({...this.state, ...patch}, this.state, [...FILTERS, "sources", "sort"])) this.list.all = false;
    this.address.change(patch, typing);
  }

  show(said) {
    const {state, library} = this;
    this.unknown.textContent = said.join(" ");
    this.said = said;
    if (!library.isWhole && this.needsAll()) this.fetch(() => library.earlier(), "The works of earlier years");
    if (state.sources && !library.hasSources) this.fetch(() => library.sources(), "The sources");
    if ((state.find || state.notes) && !library.noted) this.fetchNotes();
    this.found = library.passing(state);
    for (const facet of this.facets) facet.show(state);
    showFields(this.controls, state);
    const total = state.sources ? Math.max(library.works.length, library.count) : library.count;
    const count = library.isWhole || this.needsAll() ? this.found.length : total;
    const chosen = state.pick.length ? `, ${state.pick.length} chosen` : "";
    this.count.textContent = `${count.toLocaleString("en")} of ${total.toLocaleString("en")} ${state.sources ? "works and sources" : "works"}${chosen}`;
    this.reset.hidden = !filtered(state, NORMAL, FILTERS);
    this.drop.hidden = !state.pick.length;
    this.list.show(state, this.found, count);
  }

  /** Whether what is asked for may lie in earlier years: anything but the newest works. */
  needsAll() {
    const {state} = this;
    return this.list.all || state.sources || state.sort !== NORMAL.sort || filtered(state, NORMAL, FILTERS);
  }

  fetchNotes() {
    if (!this.library.noted) this.fetch(() => this.library.notes(), "The notes");
  }

  /** Asks for a file, then shows what is known with it. */
  async fetch(ask, what) {
    this.fetching = (this.fetching ?? 0) + 1;
    this.host.setAttribute("aria-busy", "true");
    try {
      await ask();
      this.show(this.said ?? []);
    } catch {
      this.unknown.textContent = `${what} could not be loaded; try again.`;
    }
    this.fetching -= 1;
    if (!this.fetching) this.host.removeAttribute("aria-busy");
  }

  /** What is chosen, or where nothing is, all that is found, goes into a file. */
  exporter(format) {
    return telling(`Export ${format}`, async () => {
      if (!this.state.pick.length) await this.library.earlier().then(() => this.show(this.said ?? [])).catch(() => {});
      const keys = this.state.pick.length ? this.state.pick : this.found.map(({id}) => id);
      try {
        const all = await (format === "BibTeX" ? this.library.bibtex() : this.library.csl());
        const records = keys.map((id) => all.get(id)).filter(Boolean);
        const text = format === "BibTeX" ? `${records.join("\n\n")}\n` : JSON.stringify(records, null, 1);
        if (format === "BibTeX") save(text, "text/plain", "flopbook.bib");
        else save(text, "application/json", "flopbook.json");
        return `${records.length} written`;
      } catch {
        return "Not reached";
      }
    });
  }
}

for (const host of document.querySelectorAll(".fb-works")) {
  const works = new Works(host, new Library(host));
  await works.start();
  host.dataset.ready = "yes";
  works.asked?.scrollIntoView();
}
