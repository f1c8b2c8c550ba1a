// Tables sorted by a click on a column's head: figures from the highest, text from A.

const valueOf = (row, column) => {
  const cell = row.cells[column];
  const value = cell.dataset.value ?? cell.textContent.trim();
  return value === "" || Number.isNaN(Number(value)) ? value : Number(value);
};

const compare = (one, other) => {
  if (typeof one === "number" && typeof other === "number") return one - other;
  if (typeof one === typeof other) return one.localeCompare(other);
  return typeof one === "number" ? 1 : -1;
};

const sortBy = (table, head) => {
  const column = head.cellIndex;
  const [body] = table.tBodies;
  const rows = [...body.rows];
  const isFigures = rows.some((row) => typeof valueOf(row, column) === "number");
  const last = head.getAttribute("aria-sort");
  const rising = last ? last === "descending" : !isFigures;
  rows.sort((one, other) => compare(valueOf(one, column), valueOf(other, column)));
  body.append(...(rising ? rows : rows.reverse()));
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", rising ? "ascending" : "descending");
};

for (const table of document.querySelectorAll("table.sortable")) {
  for (const head of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sortBy(table, head));
    head.append(button);
  }
}
