// A worker between the page (search/asking.js) and the theme's search (search/texts.js), which begins with the first question.
// The theme's own index holds how words are cut and no documents; a preview has a full one and is passed on as it is.

const SETUP = 0, QUERY = 2, RESULT = 3, FAILED = 4; // the theme has no fourth
const folder = new URL(".", location.href);
const waiting = []; // questions that the texts have not answered yet, in their order
let begun, cards, texts, asked = "", early = null;

addEventListener("message", async ({data: {type, data}}) => {
  if (type !== QUERY) return;
  asked = data;
  begun ??= start();
  answerEarly();
  try {
    await begun;
  } catch {
    begun = null; // the next question tries again
    if (asked === data) postMessage({type: FAILED});
    return;
  }
  // The page asks for nothing first; of several questions that waited the last one counts.
  if (!data.trim() || asked !== data) return;
  waiting.push(data);
  texts.postMessage({type, data});
});

/** The cards answer while the texts are still on their way, which takes ten times as long; what is found there comes behind. */
function answerEarly() {
  if (!cards || texts || !asked.trim() || asked === early) return;
  early = asked;
  answer({type: RESULT, data: {items: [], isPart: true}});
}

/** What is found in the texts comes behind the cards of pages that answer the question; a page comes once. */
function answer(message) {
  if (message.type !== RESULT || !cards) return postMessage(message);
  const best = flopbookSearch(asked, cards).map(({location, title, kind, text}) => [{
    location, title: escaped(title), text: escaped(text), terms: {}, score: 1, tags: [cards.words.kinds[kind].label],
  }]);
  const shown = new Set(best.map(([{location}]) => location.split("?")[0]));
  const others = message.data.items.filter(([first]) => !shown.has(first.location));
  const grows = Boolean(texts) && asked === early; // the list that stands begins so already
  if (texts) early = null;
  return postMessage({...message, data: {...message.data, grows, items: [...best, ...others]}});
}

function escaped(text) {
  return text.replace(/[&<>]/g, (mark) => ({"&": "&amp;", "<": "&lt;", ">": "&gt;"})[mark]);
}

/** The theme's search with its documents; that it is ready is no news for the page. */
async function start() {
  const once = async (name) => (await fetch(new URL(name, folder))).json();
  const get = (name) => once(name).catch(() => once(name)); // one lost answer of the network is no failure
  const {config, docs: own} = await get("../../search/search_index.json");
  const all = own.length ? own : get("../../search/documents.json");
  if (!own.length) {
    const found = get("../../search/cards.json");
    await Promise.race([found, all]); // whichever fails is told at once
    if (!self.flopbookSearch) importScripts(new URL("search/ranking.js", folder)); // an attempt that failed may have it
    cards = await found;
    answerEarly();
  }
  const docs = await all;
  const worker = new Worker(new URL(`search/texts.js${location.search}`, folder));
  await new Promise((done, failed) => {
    worker.onmessage = done;
    worker.onerror = failed;
    worker.postMessage({type: SETUP, data: {config, docs, options: {suggest: true}}});
  });
  worker.onmessage = ({data}) => {
    if (waiting.shift() === asked) answer(data); // else somebody has typed on
  };
  texts = worker;
}
