// What a link sets that its page does not have: it may be old, or cut off, or meant for another page.

const OF_OTHERS = /^(h|utm_.*|fbclid|gclid)$/; // the search adds the words that it found, and others where they sent a link
const [LONGEST, MOST] = [60, 4];

const quoted = (text) => `'${text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text}'`;

/** A clause that says so of the names that `has` refuses; empty where the page has all. */
export function strangers(search, has, place) {
  const names = [...new Set(new URLSearchParams(search).keys())].filter((name) => !OF_OTHERS.test(name) && !has(name));
  return names.length ? `this link sets ${names.slice(0, MOST).map(quoted).join(", ")}, which this ${place} does not have` : "";
}
