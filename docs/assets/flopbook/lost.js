// Where there is no page: offers those that the words of the address come nearest to, by the cards of the search.
// The address is anybody's text: it is a question for the search and never markup or a link.

import {el} from "./dom.js";

const folder = new URL(".", import.meta.url);
const root = new URL("../../", folder);
const [LONGEST, SHORTEST, MOST] = [120, 2, 5]; // letters of an address and of a word of it, and pages
const ENDINGS = /(?:\/index)?\.(?:html?|md|php|aspx?)$|\/index$/i;

/** The parts of an address below the site, as words: ["handbook", "all reduce"]; none for this page itself. */
export function parts(address, home) {
  const below = address.startsWith(home) ? address.slice(home.length) : address;
  const text = decoded(below).slice(0, LONGEST).replace(ENDINGS, "");
  const words = text.split("/").map((part) => part.split(/[^\p{L}\p{N}.]+/u).filter((word) => word.length >= SHORTEST).join(" ")).filter(Boolean);
  return words.length === 1 && words[0] === "404" ? [] : words;
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a broken code is read as it is
  }
}

/** The cards for the last part that says something; those whose address ends alike or begins alike go first. */
export function nearest(asked, cards, search) {
  const said = [asked.at(-1), asked.slice(-2).join(" "), asked.join(" "), ...asked.slice(0, -1).reverse()];
  const found = said.map((text) => search(text, cards)).find((list) => list.length) ?? [];
  const named = cards.cards.filter(([location]) => plain(ending(location)) === plain(asked.at(-1)));
  const all = [...named.map(([location, title, kind, text]) => ({location, title, kind, text})), ...found];
  const single = [...new Map(all.map((one) => [one.location.split("?")[0], one])).values()];
  const isBeside = ({location}) => asked.length > 1 && plain(location.split("/")[0]) === plain(asked[0]);
  return [...single.filter(isBeside), ...single.filter((one) => !isBeside(one))].slice(0, MOST);
}

const plain = (text) => text.toLowerCase().replace(/[^a-z0-9]/g, "");
const ending = (location) => location.split(/[?#]/)[0].split("/").filter(Boolean).at(-1) ?? "";

/** Lists the nearest pages in a box, which stays empty where there are none, or where the search cannot be had. */
export async function startLost(box) {
  const asked = parts(location.pathname, root.pathname);
  if (!asked.length) return;
  const [answer] = await Promise.all([fetch(new URL("search/cards.json", root)), import("./search/ranking.js")]);
  if (!answer.ok) return;
  const cards = await answer.json();
  const found = nearest(asked, cards, globalThis.flopbookSearch);
  if (!found.length) return;
  const item = ({location: place, title, kind}) => el("li", {},
    el("a", {href: new URL(place, root)}, title), ` (${cards.words.kinds[kind]?.label ?? "page"})`);
  box.replaceChildren(el("h2", {}, "Closest matches"), el("ul", {}, ...found.map(item)));
}
