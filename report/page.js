// The page of a report. What others wrote enters the document as text alone, never as markup.
"use strict";
(async () => {
  const $ = (id) => document.getElementById(id);
  const MOST_ROWS = 500; // of a list at once: more are asked for

  // Bytes in base64 and gzip to what they hold. The element is emptied: its text is the larger half.
  async function unpacked(element) {
    const bytes = Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0));
    element.textContent = "";
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(plain).text());
  }

  // What steers or hides stands as \u{..}: control, bidirectional and zero-width characters.
  const visible = (text) =>
    String(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
      (c) => "\\u{" + c.codePointAt(0).toString(16) + "}");

  // An element: el("td", {className: "n"}, "text", child, ...).
  function el(name, how, ...children) {
    const made = Object.assign(document.createElement(name), how);
    for (const child of children.flat()) {
      if (child === null || child === undefined) continue;
      made.append(child instanceof Node ? child : visible(child));
    }
    return made;
  }
  const link = (hash, text, how) => el("a", { href: "#" + hash, ...how }, text);
  const query = (values) => new URLSearchParams(Object.entries(values).filter(([, v]) => v)).toString();
  const percent = (value) => (value === null || value === undefined ? "-" : (100 * value).toFixed(1));

  const data = await unpacked($("data"));
  const index = data.index;
  const count = index.replicate.length;
  const word = (key, i) => index[key].words[index[key].rows[i]];
  const several = index.run.words.length > 1;
  const idOf = (i) => `${word("cell", i)}/${word("task", i)}#${index.replicate[i]}` + (several ? "@" + word("run", i) : "");
  $("note").textContent = `${count} episodes` + (data.synthetic ? "; synthetic models, which are no language models" : "");

  // Tables

  const rateCell = (rate, hash) =>
    el("td", { className: "n" }, link(hash, `${rate.passed}/${rate.episodes}`), " ", percent(rate.rate), " ",
      el("small", {}, rate.interval ? `[${percent(rate.interval.low)}, ${percent(rate.interval.high)}]`
        : rate.bounds ? `outstanding ${rate.outstanding}, [${percent(rate.bounds.low)}, ${percent(rate.bounds.high)}]` : ""));

  function cellsTable() {
    const levels = [...new Set(data.tables.cells.flatMap((cell) => Object.keys(cell.levels)))];
    const head = el("tr", {}, ["cell", "all", ...levels].map((name) => el("th", {}, name)));
    const rows = data.tables.cells.map((cell) => {
      const [name, run] = cell.cell.split("@");
      const at = (more) => "episodes?" + query({ cell: name, run: several && run ? run : "", ...more });
      return el("tr", {}, el("td", {}, link(at({}), cell.cell)), rateCell(cell, at({})),
        levels.map((level) => cell.levels[level] ? rateCell(cell.levels[level], at({ level })) : el("td", {}, "-")));
    });
    return el("div", { className: "wide" }, el("table", {}, el("thead", {}, head), el("tbody", {}, rows)));
  }

  function plainTable(rows) {
    const flat = rows.map((row) => Object.fromEntries(Object.entries(row).flatMap(([key, value]) =>
      value && typeof value === "object" && !Array.isArray(value)
        ? Object.entries(value).filter(([, v]) => typeof v !== "object").map(([k, v]) => [`${key} ${k}`, v])
        : [[key, Array.isArray(value) ? value.join(" ") : value]])));
    const columns = [...new Set(flat.flatMap(Object.keys))];
    const show = (value) => (value === null || value === undefined ? "" : value);
    return el("div", { className: "wide" }, el("table", {},
      el("thead", {}, el("tr", {}, columns.map((name) => el("th", {}, name)))),
      el("tbody", {}, flat.map((row) => el("tr", {}, columns.map((name) =>
        el("td", { className: typeof row[name] === "number" ? "n" : "" }, show(row[name]))))))));
  }

  function showTables() {
    const parts = [el("h2", {}, "Pass rate in percent, 95 % intervals: passed of planned episodes"), cellsTable()];
    for (const warning of data.tables.warnings) parts.push(el("p", {}, el("small", {}, warning)));
    for (const [name, rows] of Object.entries(data.tables)) {
      if (!Array.isArray(rows) || name === "cells" || name === "warnings" || rows.length === 0) continue;
      const body = el("details", {}, el("summary", {}, `${name} (${rows.length} rows)`));
      body.addEventListener("toggle", () => body.open && !body.dataset.made &&
        (body.append(plainTable(rows)), (body.dataset.made = "1")));
      parts.push(body);
    }
    return parts;
  }

  const showFigures = () => data.figures.length === 0 ? [el("p", {}, "no figure was drawn (matplotlib was not there)")]
    : data.figures.map(({ name, svg }) => el("figure", {}, el("figcaption", {}, name),
      el("img", { src: "data:image/svg+xml;base64," + svg, alt: name })));

  // Episodes

  const FILTERS = ["run", "cell", "level", "category", "outcome", "code"];
  function found(wanted) {
    const numbers = FILTERS.map((key) => [key, wanted[key] ? index[key].words.indexOf(wanted[key]) : -1]);
    const text = (wanted.task || "").toLowerCase();
    const turns = Number(wanted.turns || 0);
    const places = [];
    for (let i = 0; i < count; ++i) {
      if (numbers.some(([key, n]) => wanted[key] && index[key].rows[i] !== n)) continue;
      if (turns && index.turns[i] !== turns) continue;
      if (text && !word("task", i).toLowerCase().includes(text)) continue;
      places.push(i);
    }
    return places;
  }

  function filterForm(wanted) {
    const change = (key, value) => { location.hash = "episodes?" + query({ ...wanted, [key]: value }); };
    const selects = FILTERS.filter((key) => index[key].words.filter(Boolean).length > 1).map((key) => {
      const options = [el("option", { value: "" }, `any ${key}`),
        ...index[key].words.filter(Boolean).map((w) => el("option", { value: w, selected: wanted[key] === w }, w))];
      const select = el("select", { title: key }, options);
      select.addEventListener("change", () => change(key, select.value));
      return select;
    });
    const task = el("input", { type: "search", id: "search", placeholder: "task", value: wanted.task || "" });
    task.addEventListener("change", () => change("task", task.value));
    const form = el("form", {}, selects, task);
    form.addEventListener("submit", (event) => event.preventDefault());
    return form;
  }

  const outcomeOf = (i) => el("span", { className: index.passed[i] ? "good" : "bad" }, word("outcome", i));
  const hashOf = (i, wanted) => "episode=" + encodeURIComponent(idOf(i)) + "&" + query(wanted);

  function showEpisodes(wanted) {
    const places = found(wanted);
    const body = el("tbody", {});
    const more = el("button", {}, "more");
    let shown = 0;
    const add = () => {
      for (const i of places.slice(shown, shown + MOST_ROWS)) {
        body.append(el("tr", {}, el("td", {}, link(hashOf(i, wanted), idOf(i))), el("td", {}, outcomeOf(i)),
          el("td", {}, word("code", i), index.line[i] ? ` line ${index.line[i]}` : ""),
          el("td", { className: "n" }, String(index.turns[i]))));
      }
      shown = Math.min(places.length, shown + MOST_ROWS);
      more.hidden = shown === places.length;
      more.textContent = `more (${places.length - shown})`;
    };
    more.addEventListener("click", add);
    add();
    const passed = places.filter((i) => index.passed[i]).length;
    return [filterForm(wanted), el("p", { id: "found" }, `${places.length} episodes, ${passed} passed`),
      el("div", { className: "wide" }, el("table", {}, el("thead", {}, el("tr", {},
        ["episode", "outcome", "why", "turns"].map((name) => el("th", {}, name)))), body)), more];
  }

  // One episode

  const blocks = new Map();
  function blockOf(i) {
    const number = Math.floor(i / data.in_block);
    if (!blocks.has(number)) {
      const element = $("block-" + number);
      blocks.set(number, unpacked(element));
    }
    return blocks.get(number);
  }

  // Lines that changed, by the longest common subsequence; of very long kernels all.
  function diff(before, after) {
    const a = before.split("\n"), b = after.split("\n");
    if (a.length * b.length > 4e6) return b.map((text) => ["plus", text]);
    const common = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
    for (let i = a.length; i--;) for (let j = b.length; j--;)
      common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    const lines = [];
    for (let i = 0, j = 0; i < a.length || j < b.length;) {
      if (i < a.length && j < b.length && a[i] === b[j]) lines.push(["", a[i]]), ++i, ++j;
      else if (i < a.length && (j === b.length || common[i + 1][j] >= common[i][j + 1])) lines.push(["minus", a[i++]]);
      else lines.push(["plus", b[j++]]);
    }
    return lines;
  }

  function kernelView(source, line, words) {
    const rows = source.split("\n").flatMap((text, i) => {
      const at = i + 1 === line;
      const row = el("span", { className: at ? "at" : "" }, el("i", {}, String(i + 1).padStart(4) + "  "), text || " ");
      return at && words ? [row, el("span", { className: "words" }, words)] : [row];
    });
    return el("pre", { className: "code" }, rows);
  }
  const diffView = (before, after) => el("pre", { className: "code" }, diff(before, after).map(([kind, text]) =>
    el("span", { className: kind }, { plus: "+ ", minus: "- ", "": "  " }[kind] + text)));

  const folded = (title, ...inside) => el("details", {}, el("summary", {}, title), inside);
  const opened = (title, ...inside) => Object.assign(folded(title, ...inside), { open: true });

  // What a tool answered, its message apart from the JSON around it.
  function messageOf(text) {
    try {
      const said = JSON.parse(text);
      return [said.code, said.line ? `line ${said.line}` : "", said.message || said.error, ...(said.hints || [])]
        .filter(Boolean).join("\n") || text;
    } catch { return text; }
  }

  function turnView(turn, before, texts) {
    const text = (place) => (place === null || place === undefined ? "" : texts[place]);
    const answers = turn.answers.map((said) => messageOf(text(said.text)));
    const kernel = text(turn.kernel);
    const notes = [turn.event, turn.code, turn.compile_ok === 1 ? "compiles" : "", turn.verify_ok === 1 ? "verified" : "",
      turn.estimate_us ? `${turn.estimate_us.toFixed(1)} us` : "",
      `${turn.tokens_in || 0} + ${turn.tokens_out || 0} tokens`].filter(Boolean);
    return el("section", { className: "turn", id: "turn-" + turn.turn },
      el("h3", {}, `Turn ${turn.turn} `, el("small", {}, notes.join(", "))),
      (turn.asked || []).map((said) => folded(said.role, el("pre", {}, text(said.text)))),
      turn.thought !== undefined ? folded("thoughts", el("pre", {}, text(turn.thought))) : null,
      text(turn.said.text) ? el("pre", {}, text(turn.said.text)) : null,
      (turn.said.calls || []).map((call) => folded("calls " + call.name, el("pre", {}, text(call.arguments)))),
      kernel && before && kernel !== before ? [el("p", {}, "what changed"), diffView(before, kernel)] : null,
      kernel ? (turn.line ? opened : folded)(kernel === before ? "kernel (the same)" : "kernel", kernelView(kernel, turn.line, answers[0])) : null,
      answers.map((words) => el("pre", { className: "answer" }, words)));
  }

  async function showEpisode(wanted) {
    let place = -1;
    for (let i = 0; i < count && place < 0; ++i) if (idOf(i) === wanted.episode) place = i;
    if (place < 0) return [el("p", {}, `no episode ${wanted.episode} in this report`)];
    const { texts, episodes } = await blockOf(place);
    const episode = episodes[place % data.in_block];
    const { episode: _, turn: __, ...filter } = wanted;
    const places = found(filter), at = places.indexOf(place);
    const step = (by, name) => at + by >= 0 && at + by < places.length
      ? link(hashOf(places[at + by], filter), name, { id: name }) : null;
    let before = "";
    const turns = episode.turns_told.map((turn) => {
      const view = turnView(turn, before, texts);
      if (turn.kernel !== null && turn.kernel !== undefined) before = texts[turn.kernel];
      return view;
    });
    const verdict = el("pre", { id: "verdict" }, [
      `${episode.outcome || "outstanding"} ${episode.code || ""} ${episode.line ? "line " + episode.line : ""}`,
      `${episode.turns || 0} turns, ended by ${episode.ended_by || "-"}, attempt ${episode.attempt || "-"}`,
      episode.trials ? `final check: ${episode.trials_passed} of ${episode.trials} trials passed` : "",
      episode.max_abs_err !== null ? `max_abs_err ${episode.max_abs_err}, rel_l2 ${episode.rel_l2}` : "",
      episode.estimate_us ? `estimate ${episode.estimate_us.toFixed(2)} us` : "", episode.message, episode.hints,
    ].filter(Boolean).join("\n"));
    return [el("p", {}, link("episodes?" + query(filter), "episodes", { id: "back" }), " ", step(-1, "previous"), " ",
      step(1, "next")), el("h2", {}, wanted.episode, " ", outcomeOf(place)), verdict, turns];
  }

  // Where one is, and moving on

  let asked = 0;
  async function show() {
    const mine = ++asked;
    const hash = location.hash.slice(1);
    const values = Object.fromEntries(new URLSearchParams(hash.replace(/^episodes\??/, "")));
    const parts = hash.startsWith("episode=") ? await showEpisode(values)
      : hash.startsWith("episodes") ? showEpisodes(values) : hash === "figures" ? showFigures() : showTables();
    if (mine !== asked) return; // another place was asked for meanwhile
    $("main").replaceChildren(...parts.flat());
    const turn = values.turn && $("turn-" + values.turn);
    if (turn) turn.classList.add("here"), turn.scrollIntoView(); else scrollTo(0, 0);
    document.body.dataset.shown = hash || "tables";
  }
  addEventListener("hashchange", show);

  function stepTurn(by) {
    const turns = [...document.querySelectorAll(".turn")];
    const at = turns.findIndex((turn) => turn.classList.contains("here"));
    const next = turns[Math.min(turns.length - 1, Math.max(0, at + by))];
    if (!next) return;
    turns.forEach((turn) => turn.classList.toggle("here", turn === next));
    next.scrollIntoView();
    const values = new URLSearchParams(location.hash.slice(1));
    values.set("turn", next.id.slice(5));
    history.replaceState(null, "", "#" + values);
  }
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT)$/.test(event.target.tagName)) return;
    const press = (id) => $(id) && $(id).click();
    if (event.key === "j") press("next");
    else if (event.key === "k") press("previous");
    else if (event.key === "Escape") $("back") ? press("back") : (location.hash = "");
    else if (event.key === "[") stepTurn(-1);
    else if (event.key === "]") stepTurn(1);
    else if (event.key === "/") {
      event.preventDefault();
      if (!$("search")) location.hash = "episodes";
      setTimeout(() => $("search") && $("search").focus(), 50);
    }
  });
  await show();
})();
