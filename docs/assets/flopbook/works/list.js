// The list of works: the rows of the plain page with boxes to choose, notes, and buttons that copy.

import {copyText} from "../copy.js";
import {button, el} from "../dom.js";
import {telling} from "../explorer/panel.js";

const FIRST = 50; // so many are shown at once; the rest on demand

export class List {
  constructor(host, library, change, again) {
    Object.assign(this, {library, change, all: false});
    this.rows = el("ul", {class: "fb-list"});
    this.more = button("", () => { this.all = true; again(); }, {class: "fb-button fb-more"});
    this.nothing = el("p", {class: "fb-nothing"});
    for (const old of host.querySelectorAll("h2, ul")) old.remove();
    host.append(this.rows, this.nothing, this.more);
  }

  /** `count` is how many there are, where not all are here yet. */
  show(state, works, count = works.length) {
    Object.assign(this, {state, works});
    const shown = this.all ? works : works.slice(0, FIRST);
    for (const work of shown) this.prepare(work, state);
    this.rows.replaceChildren(...shown.map(({node}) => node));
    this.more.hidden = shown.length === count;
    this.more.textContent = `Show all ${count.toLocaleString("en")}`;
    this.nothing.hidden = works.length > 0;
    this.nothing.textContent = state.sources || !state.find
      ? "Nothing passes the filters; clear some of them."
      : "No work passes the filters. Clear some of them, or include the sources of values.";
  }

  /** A row gets its controls when it is first shown: most rows of a long list never are. */
  prepare(work, state) {
    work.box ??= this.dress(work);
    work.box.checked = state.pick.includes(work.id);
    const found = state.find && !state.notes && inNoteOnly(work, state.find);
    work.said.hidden = !(state.notes || found);
    if (work.note && !work.said.textContent) work.said.textContent = work.note;
  }

  dress(work) {
    const box = el("input", {type: "checkbox", "aria-label": `Choose ${work.title}`, change: () => this.change({toggle: work.id})});
    work.said = el("span", {class: "fb-annote", hidden: true});
    const copies = el("span", {class: "fb-copies"}, this.copier("BibTeX", work, () => this.entry(work)), this.copier("Citation", work, () => this.citation(work)));
    work.node.replaceChildren(el("label", {}, box), el("div", {}, ...work.node.childNodes, work.said), copies);
    return box;
  }

  copier(text, work, get) {
    return telling(text, async () => {
      try {
        return (await copyText(await get())) ? "Copied" : "Not allowed here";
      } catch {
        return "Not reached";
      }
    }, {class: "fb-button fb-small-button", "aria-label": `Copy ${text === "BibTeX" ? text : "citation"} of ${work.title}`});
  }

  async entry(work) {
    return (await this.library.bibtex()).get(work.id) ?? Promise.reject(new Error("no such entry"));
  }

  /** Everybody, title, where and when it appeared, where to read it. */
  async citation({id}) {
    const {author = [], title, issued, URL: address, ...record} = (await this.library.csl()).get(id);
    const people = author.map(({given, family, literal}) => literal ?? [given, family].filter(Boolean).join(" ")).join(", ");
    const where = [record["container-title"], issued?.["date-parts"][0][0]].filter(Boolean).join(", ");
    return [stop(people), stop(title), stop(where), address].filter(Boolean).join(" ");
  }
}

/** Of a work that the words of its line do not explain, the note is shown. */
function inNoteOnly(work, sought) {
  return sought.toLowerCase().split(/\s+/).filter(Boolean).some((word) => !work.text.includes(word));
}

function stop(text) {
  return text && !/[.?!]$/.test(text) ? `${text}.` : text;
}
