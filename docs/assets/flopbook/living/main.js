// Pictures that a reader sets in motion: a moment to scrub, quantities to drag. Each comes when it is nearly in view;
// until then, and without a script, a still picture stands in its place.

import {button, choice, el, say} from "../dom.js";
import {filesMenu} from "../downloads.js";

const SCENES = {fsdp: () => import("./fsdp.js"), pipeline: () => import("./pipeline.js"), ring: () => import("./ring.js")};
const MOMENTS = 1000; // of the slider
const MILLISECONDS = 7000; // that a run takes from its begin to its end
const REST = 900; // from step to step where motion is unwelcome
const still = matchMedia("(prefers-reduced-motion: reduce)");

const waiting = new IntersectionObserver((entries) => {
  for (const {isIntersecting, target} of entries) {
    if (!isIntersecting) continue;
    waiting.unobserve(target);
    wake(target);
  }
}, {rootMargin: "400px"});
for (const figure of document.querySelectorAll(".fb-alive")) waiting.observe(figure);

async function wake(figure) {
  document.head.append(el("link", {rel: "stylesheet", href: new URL("living.css", import.meta.url)}));
  const given = JSON.parse(figure.dataset.given, (_, value) => value ?? Infinity);
  const {scene} = await SCENES[figure.dataset.scene]();
  new Player(figure, scene(given));
}

class Player {
  constructor(figure, scene) {
    Object.assign(this, {figure, scene, moving: 0, width: 0});
    this.stage = figure.querySelector(".fb-stage");
    this.told = figure.querySelector(".fb-told");
    this.values = Object.fromEntries(scene.controls.map(({name, value}) => [name, value]));
    this.slider = el("input", {type: "range", min: 0, max: MOMENTS, value: MOMENTS * (scene.begin ?? 1), "aria-label": "Moment", input: () => { this.stop(); this.draw(); }});
    this.heard = el("p", {class: "fb-hidden", role: "status"}); // the slider tells its moment only to who is on it
    this.go = button("Play", () => (this.moving ? this.rest() : this.play()));
    const step = button("Step", () => { this.stop(); this.next(); this.rest(); });
    const time = el("p", {class: "fb-time"}, this.go, step, this.slider);
    figure.querySelector(".fb-chart-head").append(filesMenu({
      name: () => figure.id, picture: () => this.stage.querySelector("svg"), rows: () => this.run.rows(this.now()),
      link: () => `${location.href.split("#")[0]}#${figure.id}`,
    }));
    figure.querySelector(".fb-controls").replaceChildren(time, this.heard, ...scene.controls.map((control) => this.control(control)));
    this.resized(this.stage.getBoundingClientRect().width); // at once: the menu has files to give
    new ResizeObserver(([{contentRect}]) => this.resized(contentRect.width)).observe(this.stage);
  }

  resized(width) {
    if (width === this.width) return;
    this.width = width;
    this.change();
  }

  control({name, label, options, min, max, step, value, say: shown}) {
    const set = (setting) => { this.values[name] = setting; this.change(); };
    if (options) return choice(label, options, value, set);
    const output = el("output", {}, shown(value));
    const slider = el("input", {type: "range", min, max, step, value, "aria-label": label, "aria-valuetext": shown(value), input: () => {
      output.textContent = shown(Number(slider.value));
      slider.setAttribute("aria-valuetext", output.textContent);
      set(Number(slider.value));
    }});
    return el("label", {class: "fb-drag"}, el("span", {}, label), slider, output);
  }

  /** A quantity or the width has changed: the run is computed anew and drawn at the same moment. */
  change() {
    if (!this.width) return;
    this.run = this.scene.run(this.values, this.width);
    this.stage.replaceChildren(this.run.picture);
    say(this.told, this.run.words);
    this.draw();
  }

  /** The moment in view, in the unit of the run. */
  now() {
    return (Number(this.slider.value) / MOMENTS) * this.run.end;
  }

  draw() {
    this.run.at(this.now());
    this.slider.setAttribute("aria-valuetext", this.run.moment(this.now()));
  }

  play() {
    if (Number(this.slider.value) >= MOMENTS) this.slider.value = 0;
    this.go.textContent = "Pause";
    if (still.matches) {
      this.moving = setInterval(() => { if (!this.next()) this.rest(); }, REST);
      return;
    }
    const begun = performance.now() - (MILLISECONDS * this.slider.value) / MOMENTS;
    const frame = (now) => {
      if (!this.moving) return;
      this.slider.value = Math.min(MOMENTS, (MOMENTS * (now - begun)) / MILLISECONDS);
      this.draw();
      if (Number(this.slider.value) >= MOMENTS) this.rest();
      else this.moving = requestAnimationFrame(frame);
    };
    this.moving = requestAnimationFrame(frame);
  }

  stop() {
    clearInterval(this.moving);
    cancelAnimationFrame(this.moving);
    this.moving = 0;
    this.go.textContent = "Play";
  }

  /** To stop, and to say aloud at which moment. */
  rest() {
    this.stop();
    say(this.heard, this.run.moment(this.now()));
  }

  /** To the next moment at which something ends, from the last one to the first; false at the end. */
  next() {
    const {steps, end} = this.run;
    const now = Number(this.slider.value) >= MOMENTS ? 0 : this.now();
    const to = steps.find((moment) => moment > now + end / MOMENTS) ?? end;
    this.slider.value = (MOMENTS * to) / end;
    this.draw();
    return to < end;
  }
}
