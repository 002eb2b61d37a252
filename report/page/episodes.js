// The list of episodes and its filters.

const MOST_ROWS = 500; // of a list at once: more are asked for
const FILTERS = ["run", "cell", "level", "category", "outcome", "group", "code"];

function found(wanted) {
  const numbers = FILTERS.filter((key) => wanted[key]).map((key) => [key, index[key].words.indexOf(wanted[key])]);
  const text = (wanted.task || "").toLowerCase();
  const turns = Number(wanted.turns || 0);
  const places = [];
  for (let i = 0; i < count; ++i) {
    if (numbers.some(([key, n]) => index[key].rows[i] !== n)) continue;
    if (turns && index.turns[i] !== turns) continue;
    if (text && !word("task", i).toLowerCase().includes(text)) continue;
    places.push(i);
  }
  return places;
}

function filterForm(wanted) {
  const change = (key, value) => { location.hash = "episodes?" + query({ ...wanted, [key]: value }); };
  const choice = (key, words, name) => {
    const options = [el("option", { value: "" }, `any ${key}`),
      ...words.map((w) => el("option", { value: w, selected: wanted[key] === String(w) }, name(w)))];
    const select = el("select", { title: key }, options);
    select.addEventListener("change", () => change(key, select.value));
    return select;
  };
  const selects = FILTERS.filter((key) => index[key].words.filter(Boolean).length > 1)
    .map((key) => choice(key, index[key].words.filter(Boolean).sort(), (w) => w));
  const turns = [...new Set(index.turns)].filter(Boolean).sort((a, b) => a - b);
  if (turns.length > 1) selects.push(choice("turns", turns, (n) => (n === 1 ? "1 turn" : `${n} turns`)));
  const task = el("input", { type: "search", id: "search", placeholder: "task", value: wanted.task || "" });
  task.addEventListener("change", () => change("task", task.value));
  const form = el("form", {}, selects, task);
  form.addEventListener("submit", (event) => event.preventDefault());
  return form;
}

const isOutstanding = (i) => word("outcome", i) === "outstanding";
const outcomeOf = (i) =>
  el("span", { className: index.passed[i] ? "good" : isOutstanding(i) ? "" : "bad" }, word("outcome", i));
const hashOf = (i, wanted) => "episode=" + encodeURIComponent(idOf(i)) + "&" + query(wanted);

function showEpisodes(wanted) {
  const places = found(wanted);
  const body = el("tbody", {});
  const more = el("button", {}, "more");
  let listed = 0;
  const add = () => {
    for (const i of places.slice(listed, listed + MOST_ROWS)) {
      body.append(el("tr", {}, el("td", {}, link(hashOf(i, wanted), idOf(i))), el("td", {}, outcomeOf(i)),
        el("td", {}, word("code", i), index.line[i] ? ` line ${index.line[i]}` : ""),
        el("td", { className: "n" }, String(index.turns[i]))));
    }
    listed = Math.min(places.length, listed + MOST_ROWS);
    more.hidden = listed === places.length;
    more.textContent = `more (${places.length - listed})`;
  };
  more.addEventListener("click", add);
  add();
  const passed = places.filter((i) => index.passed[i]).length;
  const outstanding = places.filter(isOutstanding).length;
  return [filterForm(wanted), el("p", { id: "found" }, `${places.length} episodes, ${passed} passed` +
    (outstanding ? `, ${outstanding} outstanding` : "")),
    el("div", { className: "wide" }, el("table", {}, el("thead", {}, el("tr", {},
      ["episode", "outcome", "why", "turns"].map((name) => el("th", {}, name)))), body)), more];
}
