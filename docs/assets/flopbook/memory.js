// What a reader has read, kept in this browser and nowhere else: chapters that were read to their end, and the last place.

const KEY = "flopbook.reading";
const NOTHING = {read: [], last: null};

/** {read: [chapter], last: {chapter, title, anchor, heading} or null}; nothing where the browser keeps nothing. */
export function recall() {
  try {
    const {read, last} = JSON.parse(localStorage.getItem(KEY));
    const texts = ["chapter", "title", "anchor", "heading"];
    return {
      read: read.filter((name) => typeof name === "string"),
      last: last && texts.every((name) => typeof last[name] === "string") ? last : null,
    };
  } catch {
    return {...NOTHING}; // nothing kept, somebody else's text, or no permission
  }
}

export function keep(change) {
  try {
    localStorage.setItem(KEY, JSON.stringify({...recall(), ...change}));
  } catch {
    // A browser that keeps nothing is a reader's choice.
  }
}

export function forget() {
  try {
    localStorage.removeItem(KEY);
  } catch {
    // as above
  }
}
