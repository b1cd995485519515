// Reads a picture to somebody: the mark nearest to the pointer, or one after the other by arrow keys.

import {el, svg} from "./dom.js";

const NEAR = 40; // pixels of the picture from the pointer to a mark
const NONE = {picture: null, found: []};

export class Reader {
  /** `shown` gives {picture, found}: the picture that the reader sees with its marks from left to right, or nothing. */
  constructor(plot, shown) {
    Object.assign(this, {shown, at: null});
    this.tip = el("div", {class: "fb-source fb-meaning", role: "status"});
    // Beside its mark on a phone as well, where other meanings are a sheet at the foot of the screen.
    Object.assign(this.tip.style, {visibility: "hidden", right: "auto", bottom: "auto", width: "max-content", maxWidth: "calc(100vw - 8px)"});
    plot.append(this.tip);
    addEventListener("scroll", () => this.hide(), {passive: true, capture: true}); // it would not go with the picture
  }

  point({clientX, clientY}) {
    const {picture, found} = this.shown() ?? NONE;
    if (!picture) return;
    const from = picture.getScreenCTM().inverse();
    const x = from.a * clientX + from.e;
    const y = from.d * clientY + from.f;
    const far = (mark) => Math.hypot(mark.x - x, mark.y - y);
    const nearest = found.reduce((best, mark) => (best && far(best) <= far(mark) ? best : mark), null);
    if (nearest && far(nearest) < NEAR) this.show(nearest);
    else this.hide();
  }

  key(key) {
    const {found} = this.shown() ?? NONE;
    if (key === "Escape" || !found.length) return this.hide();
    const alike = (mark) => mark.words === this.at?.words && mark.series === this.at.series;
    const here = found.includes(this.at) ? this.at : found.find(alike); // drawn anew, a picture has new marks
    const row = found.filter((mark) => mark.series === (here ?? found[0]).series);
    const names = [...new Set(found.map((mark) => mark.series))];
    const place = here ? row.indexOf(here) : -1;
    const turn = (step) => {
      const other = found.filter(({series}) => series === names[(names.indexOf(row[0].series) + step + names.length) % names.length]);
      const near = (mark) => Math.abs(mark.x - (here?.x ?? 0));
      return other.reduce((best, mark) => (near(mark) < near(best) ? mark : best));
    };
    const next = {
      ArrowRight: () => row[Math.min(place + 1, row.length - 1)], ArrowLeft: () => row[Math.max(place - 1, 0)],
      ArrowUp: () => turn(1), ArrowDown: () => turn(-1), Home: () => row[0], End: () => row.at(-1),
    }[key];
    this.show(next());
  }

  show(mark) {
    const {picture} = this.shown();
    this.at = mark;
    this.ring ??= svg("circle", {class: "fb-stroke", r: 7});
    this.ring.setAttribute("cx", mark.x);
    this.ring.setAttribute("cy", mark.y);
    picture.append(this.ring);
    this.tip.textContent = mark.words;
    this.tip.style.visibility = "visible";
    const {a, d, e, f} = picture.getScreenCTM();
    const {offsetWidth: width, offsetHeight: height} = this.tip;
    const [x, y] = [a * mark.x + e, d * mark.y + f];
    this.tip.style.left = `${Math.max(4, Math.min(x - width / 2, innerWidth - width - 4))}px`;
    this.tip.style.top = `${y + 14 + height < innerHeight ? y + 14 : y - 14 - height}px`;
  }

  hide() {
    this.tip.style.visibility = "hidden";
    this.ring?.remove();
    this.at = null;
  }
}
