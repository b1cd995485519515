// Ranks the cards of the search for a question, as scripts/website/build/search_ranking.py does; a test in the browser holds both equal.
// A classic script: the worker of the search imports it.

(() => {
  const [PREFIX_SHARE, CONCEPT_SHARE, TAKEN, FACT, SET, SLIGHT] = [0.6, 0.9, 2, 3, 3, 0.3];
  const [NAMED, ASKED, DEFINED, PLANNED, CITED, ANSWERED] = [1.5, 1.6, 2, 3, 3, 0.5];
  const [FIRST, LISTED, SERVED, MOST_CHIPS] = [6, 3, 2, 2 ** 20];
  const [LEAST_COVERED, MOST, LONGEST, LONGEST_OPTION, FEW, SPOKEN] = [0.45, 10, 24, 6, 3, 1e-3];
  const VERSUS = /\s(?:vs|versus|v|or|and|against|with|to|over|compared to|compared with)\.?\s/;
  const COMPARES = /\b(?:vs|versus|compare|compared|comparison|better|faster|difference)\b/;

  const own = (table, key) => (Object.hasOwn(table, key) ? table[key] : undefined);
  const pairs = (list) => list.slice(1).map((one, n) => list[n] + one);

  function stem(text, endings) {
    let word = text;
    if (/\d/.test(word)) return word;
    if (word.length > 4 && word.endsWith("ies")) word = `${word.slice(0, -3)}y`;
    else if (word.length > 3 && word.endsWith("s") && !"su".includes(word.at(-2))) word = word.slice(0, -1);
    const ending = endings.find((one) => word.endsWith(one) && word.length - one.length >= 3);
    if (ending) word = word.slice(0, -ending.length);
    if (word.length > 4 && word.endsWith("e")) word = word.slice(0, -1);
    if (word.length > 3 && word.at(-1) === word.at(-2) && !"ls".includes(word.at(-1))) word = word.slice(0, -1);
    return word;
  }

  /** The words of a text, cut at hyphens and marks; 8xH100 is 8 H100. */
  const atoms = (text) => text.toLowerCase().replace(/(?<=[0-9]),(?=[0-9]{3}(?![0-9]))/g, "").replace(/(?<![a-z0-9.])([0-9]+)x(?=[a-z])/g, "$1 ").match(/[a-z0-9]+(?:\.[0-9]+)*/g) ?? [];

  /** Options of programs, such as --tensor-parallel-size: their tokens, first atoms, and ends. */
  const options = (text) => [...text.toLowerCase().matchAll(/[a-z0-9]+(?:[-_][a-z0-9]+)+/g)].map((match) => {
    const [first, parts] = [atoms(text.slice(0, match.index)).length, atoms(match[0])];
    return [`=${parts.join("")}`, first, first + parts.length];
  });

  /** What can be nothing but a setting of a program: its words, first atoms, and ends. */
  const settings = (text) => [...text.toLowerCase().matchAll(/[a-z0-9]+(?:_[a-z0-9]+)+|(?<![a-z0-9-])--[a-z0-9]+(?:-[a-z0-9]+)*/g)].map((match) => {
    const [first, parts] = [atoms(text.slice(0, match.index)).length, atoms(match[0])];
    return [parts, first, first + parts.length];
  });

  /** The known settings that say all words of one, and more: num_pp_microbatches. */
  function kindred(parts, index) {
    if (Math.max(...parts.map((part) => part.length)) < 5) return [];
    return listed(index).filter((token) => token[0] === "=" && parts.every((part) => token.includes(part)));
  }

  /** [concept, first word, end] of each phrase that names a concept. */
  function concepts(stems, words) {
    const found = [];
    for (let first = 0; first < stems.length; first += 1) {
      for (let end = first + 1; end <= Math.min(first + words.longest, stems.length); end += 1) {
        for (const concept of own(words.phrases, stems.slice(first, end).join(" ")) ?? []) found.push([concept, first, end]);
      }
    }
    return found;
  }

  /** What words name, longest names first, with their places, in the order of these. */
  function named(parts, names) {
    const taken = parts.map(() => false);
    const found = [];
    for (let length = Math.min(6, parts.length); length > 0; length -= 1) {
      for (let first = 0; first + length <= parts.length; first += 1) {
        const end = first + length;
        const said = parts.slice(first, end).join("").replaceAll(".", "");
        const name = own(names, said) ?? (/\ds$/.test(said) ? own(names, said.slice(0, -1)) : undefined);
        if (!name || taken.slice(first, end).includes(true)) continue;
        taken.fill(true, first, end);
        found.push([first, end, name]);
      }
    }
    return found.sort((a, b) => a[0] - b[0]);
  }

  class Question {
    constructor(text, index) {
      const {words} = index;
      const every = atoms(text).slice(0, LONGEST).map((atom) => corrected(atom, index));
      const kept = every.map((_, n) => n).filter((n) => !words.stop.includes(every[n]));
      this.places = kept.length ? kept : every.map((_, n) => n);
      Object.assign(this, {index, every, stems: every.map((atom) => stem(atom, words.endings))});
      this.wanted = this.places.map((n) => this.stems[n]);
      this.cites = every.some((atom) => words.cites.includes(atom));
      this.settings = settings(text);
      this.idfs = this.wanted.map((word, number) => this.idf(word, this.places[number]));
      this.isLast = this.places.map((n) => n === every.length - 1);
      this.senses = new Set(concepts(this.stems, words).map(([concept]) => `#${concept}`));
      this.models = named(every, Object.fromEntries(Object.entries(index.models).map(([name, to]) => [name, [to]])));
      const isModel = (n) => this.models.some(([first, end]) => first <= n && n < end);
      this.chips = named(every.map((atom, n) => (isModel(n) ? "" : atom)), index.chips);
      this.asks = every.some((atom) => words.asks.includes(atom));
      this.defines = every.some((atom) => words.defines.includes(atom));
      this.serves = this.models.length && every.some((atom) => words.serves.includes(atom));
      this.firsts = this.cites ? this.introducing() : [];
      this.lists = !this.chips.length && ["lists", "facts"].every((kind) => every.some((atom) => words[kind].includes(atom)));
      this.count = this.counted();
      this.isQuestion = words.opens.includes(every[0]);
      this.unknown = this.settings.filter(([parts]) => !own(index.tokens, `=${parts.join("")}`));
      const near = this.unknown.flatMap(([parts, first, end]) => kindred(parts, index).map((token) => [token, first, end]));
      this.options = [...options(text), ...this.spacedOptions(), ...near];
    }

    /** The works that introduced what a question names, or names and nothing else. */
    introducing() {
      const {every, places, stems, index: {words}} = this;
      const isAsked = every.some((atom) => words.invents.includes(atom));
      const left = places.filter((n) => ![...words.cites, ...words.writers].includes(every[n]) || words.subjects.includes(every[n - 1]));
      const spans = stems.flatMap((_, first) => stems.slice(first).map((_, n) => [first, first + n + 1]));
      return spans.filter(([first, end]) => isAsked || left.every((n) => first <= n && n < end))
        .map(([first, end]) => own(words.firsts, stems.slice(first, end).join(" "))).filter(Boolean);
    }

    /** How many chips a question names: 64 H100, 8 GPUs, H100 x8; none where it does not. */
    counted() {
      const {every, index: {words}} = this;
      const called = every.flatMap((atom, n) => (words.called.includes(atom) ? [[n, n + 1]] : []));
      for (const [first, end] of this.chips.length ? this.chips : called) {
        let before = first - 1;
        while (before > 0 && words.beside.includes(every[before])) before -= 1;
        const after = every[end]?.startsWith("x") ? every[end] : "";
        const count = Math.max(before >= 0 ? this.countAt(before) : 0, number(after));
        if (count) return count;
      }
      return 0;
    }

    /** The number at a place, unless it belongs to a name, as in Llama 3. */
    countAt(place) {
      const {every, index, models} = this;
      const said = place ? every[place - 1] + every[place] : "-";
      const isModel = models.some(([first, end]) => first <= place && place < end);
      if (isModel || Object.keys(index.models).some((name) => name.startsWith(said))) return 0;
      return own(index.words.numbers, every[place]) ?? number(every[place]);
    }

    /** Options whose words are typed apart: "max num seqs" is max_num_seqs. */
    spacedOptions() {
      const found = [];
      for (let first = 0; first < this.every.length; first += 1) {
        for (let end = first + 3; end <= Math.min(first + LONGEST_OPTION, this.every.length); end += 1) {
          const token = `=${this.every.slice(first, end).join("")}`;
          if (own(this.index.tokens, token)) found.push([token, first, end]);
        }
      }
      return found;
    }

    /** How much a word tells; words that say little alone may say much together: 6 N D. */
    idf(word, place) {
      const rare = this.rarity(word);
      const plain = this.isSlight(word, place) ? SLIGHT * rare : rare;
      const together = concepts(this.stems, this.index.words)
        .filter(([, first, end]) => first <= place && place < end && end - first > 1)
        .map(([concept, first, end]) => this.rarity(`#${concept}`) / (end - first));
      return Math.max(plain, ...together, 0);
    }

    /** Whether a word says little: a letter, a size, LLM, who wrote a work, num of a setting. */
    isSlight(word, place) {
      const {words} = this.index;
      const isFiller = this.settings.some(([, first, end]) => first <= place && place < end);
      const size = /^\d+(\.\d+)?[bm]?$/;
      const isUnit = words.units.includes(this.every[place]) && place > 0;
      return word.length < 2 || size.test(word) || words.everywhere.includes(this.every[place])
        || (isUnit && size.test(this.every[place - 1]))
        || (this.cites && words.writers.includes(this.every[place]))
        || (isFiller && words.fillers.includes(this.every[place]));
    }

    rarity(token) {
      return Math.log(1 + this.index.cards.length / (1 + Object.keys(own(this.index.tokens, token) ?? {}).length));
    }

    /** Card -> how well it answers one word: by itself, with its neighbour, or by its sense. */
    matches(number) {
      const found = new Map();
      const [word, place] = [this.wanted[number], this.places[number]];
      let exact = this.put(found, word, 1);
      for (const first of [place - 1, place]) {
        if (first >= 0 && first + 1 < this.every.length) exact = this.put(found, this.every[first] + this.every[first + 1], 1.1) || exact;
      }
      for (const [concept, start, end] of concepts(this.stems, this.index.words)) {
        if (start <= place && place < end) exact = this.put(found, `#${concept}`, CONCEPT_SHARE) || exact;
      }
      for (const [option, start, end] of this.options) {
        if (start <= place && place < end) exact = this.put(found, option, 1) || exact;
      }
      this.putTaken(found, place);
      this.putSet(found, place);
      this.putFact(found, place);
      // Who is still typing, and who leaves the end of a chip's number out: MI300.
      const isBegun = this.isLast[number] || /^[a-z]+\d[a-z0-9]*$/.test(word);
      if (!exact || (isBegun && word.length > 2)) this.putBegun(found, word);
      return found;
    }

    putTaken(found, place) {
      for (const [list, takers] of [[this.models, "model_cards"], [this.chips, "chip_cards"]]) {
        if (!list.some(([first, end]) => first <= place && place < end)) continue;
        for (const card of this.index.words[takers]) found.set(card, Math.max(found.get(card) ?? 0, TAKEN));
      }
    }

    /** The pages about settings answer one that no page names. */
    putSet(found, place) {
      if (!this.unknown.some(([, first, end]) => first <= place && place < end)) return;
      for (const card of this.index.words.setting_cards) found.set(card, Math.max(found.get(card) ?? 0, SET));
    }

    /** The page of a chip answers words that ask for a figure of it. */
    putFact(found, place) {
      if (!this.index.words.facts.includes(this.every[place])) return;
      const pages = this.chips.map(([, , [id]]) => `accelerators/${id}/`);
      if (!pages.length) return;
      this.index.cards.forEach(([location], card) => {
        if (pages.includes(location)) found.set(card, Math.max(found.get(card) ?? 0, FACT));
      });
    }

    put(found, token, share) {
      const held = own(this.index.tokens, token);
      if (!held) return false;
      for (const [card, weight] of Object.entries(held)) found.set(Number(card), Math.max(found.get(Number(card)) ?? 0, weight * share));
      return true;
    }

    putBegun(found, word) {
      if (word.length <= 2) return;
      for (const token of listed(this.index)) {
        if (token.startsWith(word) && token !== word) this.put(found, token, PREFIX_SHARE);
      }
    }
  }

  function number(word) {
    const count = Number(/^x?([1-9][0-9]{0,6})$/.exec(word)?.[1] ?? 0);
    return count <= MOST_CHIPS ? count : 0;
  }

  const listed = (index) => (index.list ??= Object.keys(index.tokens));

  /** The word that is meant where no card knows one: the commonest that is one slip away. */
  function corrected(atom, index) {
    const word = stem(atom, index.words.endings);
    const isKnown = index.words.stop.includes(atom) || Object.keys(index.words.phrases).some((phrase) => phrase.split(" ").includes(word));
    if (atom.length < 5 || isKnown || listed(index).some((token) => token.startsWith(word))) return atom;
    const count = (token) => Object.keys(index.tokens[token]).length;
    const isBetter = (a, b) => count(a) - count(b) || (a > b ? 1 : -1);
    const near = listed(index).filter((token) => !"#=~".includes(token[0]) && isNear(word, token));
    // A slip in an ending keeps it from going: activaton.
    for (let end = 3; end < atom.length; end += 1) {
      const start = atom.slice(0, end);
      if (own(index.tokens, start) && index.words.endings.some((ending) => isNear(atom, start + ending))) near.push(start);
    }
    return near.reduce((best, token) => (best && isBetter(best, token) > 0 ? best : token), "") || atom;
  }

  function isNear(a, b) {
    if (Math.abs(a.length - b.length) > 1 || b.length < 4) return false;
    let start = 0;
    while (start < Math.min(a.length, b.length) && a[start] === b[start]) start += 1;
    const [restA, restB] = [a.slice(start), b.slice(start)];
    const turned = restA.slice(0, 2) === [...restB.slice(0, 2)].reverse().join("") && restA.slice(2) === restB.slice(2);
    return turned || restB === restA.slice(1) || restB === "" || restA === restB.slice(1) || restA.slice(1) === restB.slice(1);
  }

  function hit(index, card, got, asked, total) {
    const [location, title, kind, text] = index.cards[card];
    const covered = asked.idfs.reduce((sum, idf, n) => sum + (got[n] > 0 ? idf : 0), 0) / total;
    let boost = index.words.kinds[kind].boost * titleShare(title, asked);
    if (asked.chips.some(([, , name]) => location === `accelerators/${name[0]}/`)) boost *= NAMED;
    if (asked.asks && kind === "calculators") boost *= ASKED;
    // Who names a model and a chip asks whether the one runs on the other.
    if (asked.models.length && asked.chips.length && index.words.planners.includes(location)) boost *= PLANNED;
    if (asked.defines && kind === "glossary") boost *= DEFINED;
    if (asked.isQuestion && !asked.cites && kind === "works") boost *= ANSWERED;
    if (asked.cites && ["topics", "works"].includes(kind)) boost *= CITED;
    if (asked.firsts.includes(location)) boost *= FIRST;
    if (asked.lists && location === "accelerators/") boost *= LISTED;
    if (asked.serves && location === "serve/") boost *= SERVED;
    return {location, title, kind, text, score: got.reduce((a, b) => a + b, 0) * covered ** 2 * boost, covered};
  }

  function titleShare(title, asked) {
    const {words} = asked.index;
    const stems = atoms(title.split(/: | \(/)[0]).map((atom) => stem(atom, words.endings));
    const wanted = new Set([...asked.wanted, ...pairs(asked.every)]);
    const said = stems.map((word) => wanted.has(word));
    for (const [concept, first, end] of concepts(stems, words)) if (asked.senses.has(`#${concept}`)) said.fill(true, first, end);
    const some = said.filter((_, n) => !words.stop.includes(stems[n]));
    const counted = some.length ? some : said;
    return 0.6 + 0.8 * counted.filter(Boolean).length / Math.max(1, counted.length);
  }

  /** Other forms of a chip: "h100 pcie or sxm" asks for the H100 SXM too. */
  function variants(parts, [first, end], index) {
    return parts.filter((part, n) => (n < first || n >= end) && !/^\d+$/.test(part)).map((part) => own(index.chips, parts[first] + part)).filter(Boolean);
  }

  function comparison(text, index) {
    const asked = ` ${text.toLowerCase().trim()} `;
    const parts = atoms(text).slice(0, LONGEST);
    const spans = named(parts, index.chips);
    const all = spans.map(([, , name]) => name);
    if (spans.length === 1) all.push(...variants(parts, spans[0], index));
    const chips = [...new Map(all.map((name) => [name[0], name])).values()].slice(0, 4);
    if (chips.length < 2 || !(VERSUS.test(asked) || COMPARES.test(asked))) return [];
    const ids = chips.map(([id]) => id).join(",");
    const title = chips.map(([, name]) => name).join(" vs ");
    const page = own(index.words.pairs, ids);
    const card = new Map(index.cards.map(([location, , kind, text]) => [location, {kind, text}]));
    const found = [
      ...(page ? [[page, title, "Side by side, with a verdict in numbers."]] : []),
      [`accelerators/?view=compare&compare=${ids}`, `${title}, every figure`, "Beside each other, with prices that you can change."],
      ...chips.map(([id, name]) => [`accelerators/${id}/`, name, ""]),
    ];
    return found.map(([location, name, text]) => ({location, title: name, kind: "comparison", text, score: 1000, covered: 1, ...card.get(location)}));
  }

  function withState(one, asked, index) {
    if (one.kind !== "calculators") return one;
    const taken = [["model", asked.models], ["chip", asked.chips]]
      .filter(([option, list]) => list.length && index.words.takes[option].includes(one.location))
      .map(([option, list]) => `${option}=${list[0][2][0]}`);
    if (asked.count && taken.length && index.words.takes.chips.includes(one.location)) taken.push(`chips=${asked.count}`);
    return taken.length ? {...one, location: `${one.location}?${taken.join("&")}`} : one;
  }

  const byScore = (a, b) => b.score - a.score || (a.location < b.location ? -1 : 1);

  const page = ({location, kind}) => (kind === "symptoms" ? location.split("#")[0] : location);

  /** The best of the cards of a chapter, which has one itself and one for each symptom. */
  function once(hits) {
    const best = new Map();
    for (const one of hits) if (!best.has(page(one))) best.set(page(one), one);
    return [...best.values()];
  }

  /** Chapters that speak of what is asked, where titles and keywords say too little of it. */
  function speaking(asked, index, shown) {
    const told = new Map();
    for (const word of asked.wanted) {
      const held = Object.keys(own(index.tokens, `~${word}`) ?? {});
      for (const card of held) told.set(card, [...(told.get(card) ?? []), SPOKEN / held.length]);
    }
    const hits = [...told].map(([card, rare]) => {
      const [location, title, kind, text] = index.cards[card];
      return {location, title, kind, text, score: rare.reduce((a, b) => a + b, 0), covered: rare.length / asked.wanted.length};
    });
    return hits.sort(byScore).filter(({location}) => !shown.includes(location));
  }

  /** The best cards for a question, best first; a comparison of two chips before all. */
  function search(text, index) {
    const asked = new Question(text, index);
    if (!asked.wanted.length) return [];
    const scores = new Map();
    let total = 0;
    asked.idfs.forEach((weight, number) => {
      const found = asked.matches(number);
      if (found.size) total += weight; // a word that no card has says nothing about which of them is meant
      for (const [card, share] of found) {
        if (!scores.has(card)) scores.set(card, asked.wanted.map(() => 0));
        scores.get(card)[number] = weight * share;
      }
    });
    const hits = [...scores].map(([card, got]) => hit(index, card, got, asked, total));
    hits.sort(byScore);
    let best = once(hits.filter(({covered}) => covered >= LEAST_COVERED));
    // Where few cards have half of a question, the best of a quarter are better than none.
    if (best.length < FEW) best = once(hits.filter(({covered}) => covered >= LEAST_COVERED / 2));
    if (best.length < FEW) best.push(...speaking(asked, index, best.map(page)));
    const first = comparison(text, index);
    const others = best.filter(({location}) => !first.some((one) => one.location === location));
    return [...first, ...others.map((one) => withState(one, asked, index))].slice(0, MOST);
  }

  globalThis.flopbookSearch = search;
})();
