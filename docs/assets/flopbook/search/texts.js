// The texts of all pages, in a worker of their own (../search.js makes it): to read them takes seconds, in which cards must answer.
// The theme's worker is told and answers as ever; it gets other questions, and a repaired lunr.

addEventListener("message", (event) => {
  const {type, data} = event.data;
  if (!event.isTrusted || type !== 2) return; // from us, or no question
  event.stopImmediatePropagation();
  dispatchEvent(new MessageEvent("message", {data: {type, data: told(data)}}));
});
importScripts(new URL(`../../javascripts/workers/${location.search.slice(1)}`, location.href));
lunr.TokenSet.prototype.toString = nodeName;

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
