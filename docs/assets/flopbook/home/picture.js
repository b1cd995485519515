// A roofline on which the reader moves the number of requests. It moves by itself once, unless motion is unwelcome:
// the browser moves the point, and only the words beside it change at each doubling.

const WIDTH = 560;
const HEIGHT = 300;
const [LEFT, RIGHT, TOP, BOTTOM] = [50, 14, 18, 40];
const BATCHES = [1, 4096];
const RATES = [1e12, 2e15];
const SHOWN = 9; // powers of two at which the picture comes to rest
const MILLISECONDS = 3600;
const KEYS = 30; // places on the way of the point, between which the browser moves it without this script

function place(value, [low, high], start, end) {
  return start + (Math.log(value / low) / Math.log(high / low)) * (end - start);
}

export function startPicture(figure) {
  const slider = figure.querySelector("input");
  const said = figure.querySelector("output");
  const point = figure.querySelector(".fb-point");
  const drop = figure.querySelector(".fb-drop");
  const [peak, bandwidth] = [Number(figure.dataset.peak), Number(figure.dataset.bandwidth)];
  const floor = HEIGHT - BOTTOM;

  const at = (power) => {
    const batch = Math.round(2 ** power);
    const rate = Math.min(peak, batch * bandwidth);
    const share = (100 * rate) / peak;
    return {batch, rate, share: share < 1 ? share.toFixed(1) : Math.round(share)};
  };
  const xy = (batch, rate) => [place(batch, BATCHES, LEFT, WIDTH - RIGHT), place(rate, RATES, floor, TOP)];
  const tell = () => {
    const {batch, rate, share} = at(Number(slider.value));
    point.classList.toggle("fb-full", rate === peak);
    said.textContent = `${batch.toLocaleString("en")} · ${share} % of peak`;
    slider.setAttribute("aria-valuetext", `${batch} requests, ${share} percent of the peak`);
  };
  const draw = () => {
    const {batch, rate} = at(Number(slider.value));
    const [x, y] = xy(batch, rate).map((one) => one.toFixed(1));
    point.setAttribute("cx", x);
    point.setAttribute("cy", y);
    drop.setAttribute("d", `M${x} ${y}V${floor}`);
    tell();
  };

  slider.closest("p").hidden = false;
  let stop = () => {};
  for (const kind of ["pointerdown", "keydown", "input"]) slider.addEventListener(kind, () => stop());
  slider.addEventListener("input", draw);
  draw();
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;

  slider.value = SHOWN;
  draw();
  const [xEnd, yEnd] = xy(2 ** SHOWN, Math.min(peak, 2 ** SHOWN * bandwidth));
  const way = Array.from({length: KEYS + 1}, (_, n) => {
    const batch = 2 ** (SHOWN * eased(n / KEYS));
    const [x, y] = xy(batch, Math.min(peak, batch * bandwidth));
    return [x - xEnd, y - yEnd, (floor - y) / (floor - yEnd)];
  });
  drop.style.transformOrigin = `0 ${floor}px`;
  const moves = [
    point.animate(way.map(([x, y]) => ({transform: `translate(${x}px, ${y}px)`})), MILLISECONDS),
    drop.animate(way.map(([x, , tall]) => ({transform: `translateX(${x}px) scaleY(${tall})`})), MILLISECONDS),
  ];
  const words = Array.from({length: SHOWN + 1}, (_, power) => setTimeout(() => {
    slider.value = power;
    tell();
  }, MILLISECONDS * moment(power / SHOWN)));
  stop = () => {
    words.forEach(clearTimeout);
    for (const move of moves) move.cancel();
    draw();
  };
}

/** Slow at both ends; and the moment at which so much of the way is done. */
const eased = (share) => share * share * (3 - 2 * share);
const moment = (share) => 0.5 - Math.sin(Math.asin(1 - 2 * share) / 3);
