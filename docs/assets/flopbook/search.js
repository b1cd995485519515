// A worker between the page and the theme's search: it loads the search and its documents when somebody searches, not before.
// The theme's own index, which every page asks for, is empty; a preview has a full one and is passed on as it is.

const SETUP = 0, READY = 1, QUERY = 2, RESULT = 3;
const folder = new URL(".", location.href);
const answer = self.postMessage.bind(self);
let setup, begun;

addEventListener("message", async (event) => {
  if (!event.isTrusted) return; // from us, for the theme's worker
  event.stopImmediatePropagation();
  const {type, data} = event.data;
  if (type === SETUP) {
    setup = data;
    answer({type: READY});
  } else if (type === QUERY && !data.trim()) {
    answer({type: RESULT, data: {items: []}}); // the page asks for nothing when it opens
  } else if (type === QUERY) {
    await (begun ??= start());
    pass(type, told(data));
  }
});

function pass(type, data) {
  dispatchEvent(new MessageEvent("message", {data: {type, data}}));
}

/** The theme's worker with its documents; that it is ready is no news for the page. */
async function start() {
  const docs = setup.docs.length ? setup.docs : await (await fetch(new URL("../../search/documents.json", folder))).json();
  importScripts(new URL(`../javascripts/workers/${location.search.slice(1)}`, folder));
  lunr.TokenSet.prototype.toString = nodeName;
  await new Promise((done) => {
    self.postMessage = done;
    pass(SETUP, {...setup, docs});
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

/** A question without the words that the index leaves out: their beginnings would find what nobody asked for. */
function told(text) {
  const words = text.split(" ").filter((word) => lunr.stopWordFilter(word.toLowerCase()));
  return words.length ? words.join(" ") : text;
}
