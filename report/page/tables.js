// The first page: rates of cells and levels, every other table below; each leads to its episodes.

const rateCell = (rate, hash) => {
  const interval = rate.interval || rate.bounds;
  const words = !interval ? "" : `[${percent(interval.low)}, ${percent(interval.high)}]`;
  return el("td", { className: "n" }, link(hash, `${rate.passed}/${rate.episodes}`), " ", percent(rate.rate), " ",
    el("small", {}, rate.interval ? words : rate.bounds ? `outstanding ${rate.outstanding}, ${words}` : ""));
};

// The filter that finds the episodes of a cell.
const filterOf = (cell, more) => "episodes?" + query({ cell, ...more });

function cellsTable() {
  const levels = [...new Set(data.tables.cells.flatMap((cell) => Object.keys(cell.levels)))];
  const head = el("tr", {}, ["cell", "all", ...levels].map((name, i) => el("th", { className: i ? "n" : "" }, name)));
  const rows = data.tables.cells.map((cell) =>
    el("tr", {}, el("td", {}, link(filterOf(cell.cell), cell.cell)), rateCell(cell, filterOf(cell.cell)),
      levels.map((level) => cell.levels[level] ? rateCell(cell.levels[level], filterOf(cell.cell, { level }))
        : el("td", {}, "-"))));
  return el("div", { className: "wide" }, el("table", {}, el("thead", {}, head), el("tbody", {}, rows)));
}

// {a: {b: 1}} to {"a b": 1}: a table has no columns within columns.
const flat = (row) => Object.fromEntries(Object.entries(row).flatMap(([key, value]) =>
  value && typeof value === "object" && !Array.isArray(value)
    ? Object.entries(value).filter(([, v]) => typeof v !== "object").map(([k, v]) => [`${key} ${k}`, v])
    : [[key, Array.isArray(value) ? value.join(" ") : value]]));

const shown = (value) => (value === null || value === undefined ? ""
  : typeof value === "number" && !Number.isInteger(value) ? String(Number(value.toPrecision(5))) : value);

// Where a field leads to: a cell, with the level, category or task beside it; an outcome, group or code of one.
function leadsTo(row, column) {
  if (column === "cell" || column === "a" || column === "b") {
    if (!index.cell.words.includes(String(row[column]))) return "";
    const { level, category, task } = row;
    return filterOf(row[column], { level, category, task });
  }
  const [kind, name] = column.split(" ");
  const key = { outcomes: "outcome", groups: "group", codes: "code" }[kind];
  return key && name && row[column] > 0 ? filterOf(row.cell, { [key]: name }) : "";
}

const MANY = 9; // columns: with more, their names stand upright on paper

function plainTable(rows) {
  const lines = rows.map(flat);
  const columns = [...new Set(lines.flatMap(Object.keys))];
  const kindOf = (name) => (lines.some((row) => typeof row[name] === "number") ? "n" : "");
  const field = (row, name) => {
    const hash = leadsTo(row, name);
    return el("td", { className: typeof row[name] === "number" ? "n" : "" },
      hash ? link(hash, shown(row[name])) : shown(row[name]));
  };
  return el("div", { className: "wide" }, el("table", { className: columns.length > MANY ? "many" : "" },
    el("thead", {}, el("tr", {}, columns.map((name) => el("th", { className: kindOf(name) }, name)))),
    el("tbody", {}, lines.map((row) => el("tr", {}, columns.map((name) => field(row, name)))))));
}

function showTables() {
  const parts = [el("h2", {}, "Pass rate in percent, 95 % intervals: passed of planned episodes"), cellsTable()];
  for (const warning of data.tables.warnings) parts.push(el("p", {}, el("small", {}, warning)));
  for (const [name, rows] of Object.entries(data.tables)) {
    if (!Array.isArray(rows) || name === "cells" || name === "warnings" || rows.length === 0) continue;
    const body = folded(`${name} (${rows.length} rows)`);
    body.addEventListener("toggle", () => body.open && !body.dataset.made &&
      (body.append(plainTable(rows)), (body.dataset.made = "1")));
    parts.push(body);
  }
  return parts;
}

const showFigures = () => data.figures.length === 0 ? [el("p", {}, "no figure was drawn; `nkigrid figures` says why")]
  : data.figures.map(({ name, svg }) => el("figure", {}, el("figcaption", {}, name),
    el("img", { src: "data:image/svg+xml;base64," + svg, alt: name })));
