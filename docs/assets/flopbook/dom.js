// Small helpers that make elements and texts; text is always text, never markup.

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** An HTML element; a function among the attributes listens to the event of that name. */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Put a text where another may stand already; one that stays the same costs no layout. */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** A sentence with its names in braces replaced by their values. */
export function filled(text, values) {
  return text.replace(/{(\w+)}/g, (_, name) => values[name]);
}

/** An SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

export function button(text, click, attributes = {}) {
  return el("button", {type: "button", class: "fb-button", click, ...attributes}, text);
}

/** A labelled choice; options are [value, text] or {group, options}. */
export function choice(label, options, value, change, attributes = {}) {
  const option = ([key, text]) => el("option", {value: key, selected: key === value}, text);
  const select = el("select", {change: (event) => change(event.target.value), ...attributes});
  for (const one of options) {
    select.append(one.group ? el("optgroup", {label: one.group}, ...one.options.map(option)) : option(one));
  }
  return el("label", {class: "fb-choice"}, el("span", {}, label), select);
}

export function check(label, checked, change, attributes = {}) {
  const box = el("input", {type: "checkbox", change: (event) => change(event.target.checked), ...attributes});
  box.checked = checked;
  return el("label", {class: "fb-check"}, box, " ", label);
}
