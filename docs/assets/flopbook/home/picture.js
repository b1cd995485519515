// A roofline on which the reader moves the number of requests. It moves by itself once, unless motion is unwelcome.

const WIDTH = 560;
const HEIGHT = 300;
const [LEFT, RIGHT, TOP, BOTTOM] = [50, 14, 18, 40];
const BATCHES = [1, 4096];
const RATES = [1e12, 2e15];
const SHOWN = 9; // powers of two at which the picture comes to rest
const MILLISECONDS = 3600;

function place(value, [low, high], start, end) {
  return start + (Math.log(value / low) / Math.log(high / low)) * (end - start);
}

export function startPicture(figure) {
  const slider = figure.querySelector("input");
  const said = figure.querySelector("output");
  const point = figure.querySelector(".fb-point");
  const drop = figure.querySelector(".fb-drop");
  const {peak, bandwidth} = figure.dataset;
  const floor = HEIGHT - BOTTOM;

  const draw = () => {
    const batch = Math.round(2 ** Number(slider.value));
    const rate = Math.min(Number(peak), batch * Number(bandwidth));
    const x = place(batch, BATCHES, LEFT, WIDTH - RIGHT).toFixed(1);
    const y = place(rate, RATES, floor, TOP).toFixed(1);
    point.setAttribute("cx", x);
    point.setAttribute("cy", y);
    point.classList.toggle("fb-full", rate === Number(peak));
    drop.setAttribute("d", `M${x} ${y}V${floor}`);
    said.textContent = `${batch.toLocaleString("en")} · ${Math.round((100 * rate) / Number(peak))} % of peak`;
    slider.setAttribute("aria-valuetext", `${batch} requests, ${Math.round((100 * rate) / Number(peak))} percent of the peak`);
  };

  let moving = !matchMedia("(prefers-reduced-motion: reduce)").matches;
  const stop = () => { moving = false; };
  for (const kind of ["pointerdown", "keydown", "input"]) slider.addEventListener(kind, stop);
  slider.addEventListener("input", draw);
  slider.closest("p").hidden = false;
  if (!moving) {
    draw();
    return;
  }
  const begun = performance.now();
  const step = (now) => {
    if (!moving) return;
    const share = Math.min(1, (now - begun) / MILLISECONDS);
    slider.value = SHOWN * share * share * (3 - 2 * share);
    draw();
    if (share < 1) requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}
