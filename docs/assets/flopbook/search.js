// A worker between the page (search/asking.js) and the theme's search, which it loads with its documents for the first question.
// The theme's own index holds how words are cut and no documents; a preview has a full one and is passed on as it is.

const SETUP = 0, QUERY = 2, RESULT = 3, FAILED = 4; // the theme has no fourth
const folder = new URL(".", location.href);
const post = self.postMessage.bind(self);
let begun, cards, asked = "";

addEventListener("message", async (event) => {
  if (!event.isTrusted) return; // from us, for the theme's worker
  event.stopImmediatePropagation();
  const {type, data} = event.data;
  if (type !== QUERY) return;
  asked = data;
  begun ??= start();
  try {
    await begun;
  } catch {
    begun = null; // the next question tries again
    if (asked === data) post({type: FAILED});
    return;
  }
  // The page asks for nothing first; of several questions that waited the last one counts.
  if (data.trim() && asked === data) pass(type, told(data));
});

function pass(type, data) {
  dispatchEvent(new MessageEvent("message", {data: {type, data}}));
}

/** What the theme's worker finds in the texts comes behind the cards of pages that answer the question; a page comes once. */
function answer(message) {
  if (message.type !== RESULT || !cards) return post(message);
  const best = flopbookSearch(asked, cards).map(({location, title, kind, text}) => [{
    location, title: escaped(title), text: escaped(text), terms: {}, score: 1, tags: [cards.words.kinds[kind].label],
  }]);
  const shown = new Set(best.map(([{location}]) => location.split("?")[0]));
  const others = message.data.items.filter(([first]) => !shown.has(first.location));
  return post({...message, data: {...message.data, items: [...best, ...others]}});
}

function escaped(text) {
  return text.replace(/[&<>]/g, (mark) => ({"&": "&amp;", "<": "&lt;", ">": "&gt;"})[mark]);
}

/** The theme's worker with its documents; that it is ready is no news for the page. */
async function start() {
  const once = async (name) => (await fetch(new URL(name, folder))).json();
  const get = (name) => once(name).catch(() => once(name)); // one lost answer of the network is no failure
  const {config, docs: own} = await get("../../search/search_index.json");
  const names = own.length ? [] : ["documents", "cards"];
  const [docs = own, found] = await Promise.all(names.map((name) => get(`../../search/${name}.json`)));
  cards = found;
  if (!self.flopbookSearch) importScripts(new URL("search/ranking.js", folder)); // an attempt that failed may have it
  importScripts(new URL(`../javascripts/workers/${location.search.slice(1)}`, folder));
  lunr.TokenSet.prototype.toString = nodeName;
  await new Promise((done) => {
    self.postMessage = done;
    pass(SETUP, {config, docs, options: {suggest: true}});
  });
  self.postMessage = answer;
}

/**
 * The name by which lunr finds equal nodes of its index while it shares them. Its own runs letters and numbers of nodes
 * together, so that "1" to node 23 and "12" to node 3 have one name: with enough numbers in our texts, words then lead
 * into the ends of others, and a search for them fails.
 */
function nodeName() {
  const edges = Object.keys(this.edges).sort().map((letter) => `${letter} ${this.edges[letter].id}`);
  return this._str ??= [this.final ? 1 : 0, ...edges].join("\n");
}

/**
 * A question without the words that the index leaves out: their beginnings would find what nobody asked for. The hyphen of a
 * word that is not typed to its end goes too: behind it the theme looks for any word at all, which takes seconds.
 */
function told(text) {
  const typed = text.replace(/[-+~^]+(?=\s|$)/g, "");
  const words = typed.split(" ").filter((word) => lunr.stopWordFilter(word.toLowerCase()));
  return words.length ? words.join(" ") : typed;
}
