// Sorting of tables that are complete without it.

export function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "fb-sorter";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sort(table, heads, column));
  });
}

function sort(table, heads, column) {
  const head = heads[column];
  const numeric = head.classList.contains("fb-n");
  // Numbers begin with the largest: that is what people look for.
  const next = head.getAttribute("aria-sort") === (numeric ? "descending" : "ascending")
    ? (numeric ? "ascending" : "descending") : (numeric ? "descending" : "ascending");
  for (const other of heads) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", next);
  const sign = next === "ascending" ? 1 : -1;
  const rows = [...table.tBodies[0].rows].map((row) => [key(row.cells[column], numeric), row]);
  rows.sort(([a], [b]) => {
    if (a === null || b === null) return (a === null) - (b === null); // what is not known stays last
    return sign * (numeric ? a - b : a.localeCompare(b, "en", {numeric: true}));
  });
  table.tBodies[0].append(...rows.map(([, row]) => row));
}

function key(cell, numeric) {
  if (numeric) return cell.dataset.sort ? Number(cell.dataset.sort) : null;
  return cell.textContent.trim();
}
