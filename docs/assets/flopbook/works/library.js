// The works as the page lists them, and what is fetched when it is first asked for: notes, sources of values, BibTeX.

import {inYears} from "../explorer/panel.js";

export const SORTS = {newest: "Newest", oldest: "Oldest", title: "Title", author: "Author"};
export const FILTERS = ["find", "topic", "kind", "vendor", "from", "to", "code"];

export class Library {
  constructor(host) {
    this.files = host.dataset;
    this.facets = JSON.parse(host.querySelector(".fb-facets").textContent);
    this.below = branches(this.facets.topics);
    this.fetched = new Map();
    this.works = [];
    this.byId = new Map();
    this.adopt(host.querySelectorAll("li[id]"));
    this.count = Number(this.files.count); // of all works; those of earlier years have pages of their own
  }

  /** The rows of a page are used as they are. */
  adopt(rows) {
    for (const node of rows) {
      const {d, k: kind = this.facets.usual, t = "", v = ""} = node.dataset;
      const title = node.querySelector(".fb-title").textContent;
      const home = node.querySelector(`a[href$="#${node.id}"]`).getAttribute("href").split("/").at(-2);
      const work = {
        id: node.id, node, title, kind, date: d, year: Number(d.slice(0, 4)) || null, topics: [home, ...t.split(" ")],
        vendors: v.split(" "), code: node.querySelector(".fb-code") !== null, text: node.textContent.toLowerCase(),
        sortTitle: title.toLowerCase(), note: "", people: "",
      };
      this.works.push(work);
      this.byId.set(work.id, work);
    }
  }

  /** What a file says, asked for once. An error is not remembered, so that it can be asked for again. */
  file(address, read) {
    if (!this.fetched.has(address)) {
      const found = fetch(address).then((answer) => (answer.ok ? answer : Promise.reject(new Error(answer.statusText)))).then(read);
      found.catch(() => this.fetched.delete(address));
      this.fetched.set(address, found);
    }
    return this.fetched.get(address);
  }

  /** True when the notes of all that is listed are there. */
  get noted() {
    return Boolean(this.hasNotes && (this.hasSourceNotes || !this.hasSources));
  }

  async notes() {
    const count = this.works.length;
    await this.file(this.files.notes, (answer) => answer.json()).then((record) => this.note(record));
    this.hasNotes = count === this.works.length;
    if (!this.hasSources) return;
    await this.file(this.files.sourceNotes, (answer) => answer.json()).then((record) => this.note(record));
    this.hasSourceNotes = true;
  }

  note(record) {
    for (const [id, [note, people = ""]] of Object.entries(record)) {
      const work = this.byId.get(id);
      if (work) Object.assign(work, {note, people, more: `${note} ${people}`.toLowerCase()});
    }
  }

  get isWhole() {
    return this.hasEarlier || !this.files.earlier;
  }

  /** The plain pages of earlier years are read, and their rows are adopted. */
  async earlier() {
    if (this.isWhole) return;
    const texts = await Promise.all(this.files.earlier.split(" ").map((page) => this.file(page, (answer) => answer.text())));
    if (this.isWhole) return;
    this.hasEarlier = true;
    texts.forEach((text) => this.adoptPage(text));
    this.hasNotes = false; // what was fetched is told to the new rows as well
  }

  /** The plain page of sources is read, and its rows are adopted. */
  async sources() {
    if (this.hasSources) return;
    const text = await this.file(this.files.sources, (answer) => answer.text());
    if (this.hasSources) return;
    this.hasSources = true;
    this.adoptPage(text);
  }

  adoptPage(text) {
    const page = new DOMParser().parseFromString(text, "text/html");
    this.adopt([...page.querySelectorAll("ul.fb-list > li[id]")].map((row) => document.adoptNode(row)));
  }

  /** Key -> entry. */
  bibtex() {
    return this.file(`${this.files.api}.bib`, async (answer) => {
      const entries = (await answer.text()).trim().split(/\n\n(?=@)/);
      return new Map(entries.map((entry) => [entry.match(/^@\w+\s*\{\s*([^,\s]+)/)?.[1], entry]));
    });
  }

  csl() {
    return this.file(`${this.files.api}.json`, async (answer) => new Map((await answer.json()).map((record) => [record.id, record])));
  }

  /** The works that pass all filters, in the order that the reader asks for. */
  passing(state) {
    const words = state.find.toLowerCase().split(/\s+/).filter(Boolean);
    const topics = new Set(state.topic.flatMap((id) => this.below.get(id)));
    const found = this.works.filter((work) => {
      if (work.kind === this.facets.source && !state.sources) return false;
      if (topics.size && !work.topics.some((id) => topics.has(id))) return false;
      if (state.kind.length && !state.kind.includes(work.kind)) return false;
      if (state.vendor.length && !state.vendor.some((id) => work.vendors.includes(id))) return false;
      if (state.code && !work.code) return false;
      return inYears(work.year, state) && words.every((word) => work.text.includes(word) || work.more?.includes(word));
    });
    return found.sort(ORDERS[state.sort]);
  }
}

const by = (name, sign = 1) => (a, b) => (a[name] < b[name] ? -sign : a[name] > b[name] ? sign : 0);
const byTitle = by("sortTitle"), byAge = by("date"), byYouth = by("date", -1);
const ORDERS = {
  newest: (a, b) => byYouth(a, b) || byTitle(a, b),
  oldest: (a, b) => byAge(a, b) || byTitle(a, b),
  title: byTitle,
  author: by("id"), // a key begins with the first author's family name
};

/** Topic -> itself and all topics below it; they are listed in the order of the tree with their depth. */
function branches(topics) {
  return new Map(topics.map(([id, , depth], place) => {
    const after = topics.slice(place + 1);
    const end = after.findIndex(([, , other]) => other <= depth);
    return [id, [id, ...after.slice(0, end < 0 ? after.length : end).map(([name]) => name)]];
  }));
}
