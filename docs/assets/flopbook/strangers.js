// What a link asks for that its page does not have: it may be old, or cut off, or meant for another page.

const OF_OTHERS = /^(h|utm_.*|fbclid|gclid)$/; // the search adds the words that it found, and others where they sent a link
const [LONGEST, MOST] = [60, 6];

/** A text of a link between quotes, cut where it is long. */
export function quoted(text) {
  const shown = text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text;
  return `'${shown}'`;
}

/**
 * A sentence that says so of the values in `unknown`, such as "chip 'foo'", and of the names of the link that `has` refuses; empty
 * where the page has all.
 */
export function lacking(unknown, search, has, place) {
  const names = [...new Set(new URLSearchParams(search).keys())].filter((name) => !OF_OTHERS.test(name) && !has(name));
  const clauses = [
    unknown.length && `asks for ${listed(unknown)}`,
    names.length && `sets ${listed(names.map(quoted))}`,
  ].filter(Boolean);
  const said = clauses.join(" and ");
  return said && `This link ${said}, which this ${place} does not have.`;
}

function listed(texts) {
  const more = texts.length - MOST;
  return [...texts.slice(0, MOST), ...(more > 0 ? [`${more} more`] : [])].join(", ");
}
