// One episode: the verdict, then each turn in its order.

const blocks = new Map(); // number of a block -> what lies in it, once it was asked for
function blockOf(i) {
  const number = Math.floor(i / data.in_block);
  if (!blocks.has(number)) blocks.set(number, unpacked($("block-" + number)));
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

// What a tool answered, its message apart from the JSON around it.
function messageOf(text) {
  try {
    const said = JSON.parse(text);
    return [said.code, said.line ? `line ${said.line}` : "", said.message || said.error, ...(said.hints || [])]
      .filter(Boolean).join("\n") || text;
  } catch { return text; }
}

function notesOf(turn) {
  return [turn.event, turn.code, turn.compile_ok === 1 ? "compiles" : "", turn.verify_ok === 1 ? "verified" : "",
    turn.estimate_us ? `${turn.estimate_us.toFixed(1)} us` : "",
    `${turn.tokens_in || 0} + ${turn.tokens_out || 0} tokens`].filter(Boolean).join(", ");
}

function turnView(turn, before, texts) {
  const text = (place) => (place === null || place === undefined ? "" : texts[place]);
  const answers = turn.answers.map((said) => messageOf(text(said.text)));
  const kernel = text(turn.kernel);
  const source = kernel ? kernelView(kernel, turn.line, answers[0]) : null;
  return el("section", { className: "turn", id: "turn-" + turn.turn },
    el("h3", {}, `Turn ${turn.turn} `, el("small", {}, notesOf(turn))),
    (turn.asked || []).map((said) => folded(said.role, el("pre", {}, text(said.text)))),
    turn.thought !== undefined ? folded("thoughts", el("pre", {}, text(turn.thought))) : null,
    text(turn.said.text) ? el("pre", {}, text(turn.said.text)) : null,
    (turn.said.calls || []).map((call) => folded("calls " + call.name, el("pre", {}, text(call.arguments)))),
    kernel && before && kernel !== before ? opened("what changed", diffView(before, kernel)) : null,
    source ? (turn.line ? opened : folded)(kernel === before ? "kernel (the same)" : "kernel", source) : null,
    answers.map((words) => el("pre", { className: "answer" }, words)));
}

// What the simulator expects of the final kernel: a row an engine, a box for each time that it works.
function timelineView(timeline) {
  const width = 1000, row = 18, left = 70;
  const x = (us) => left + ((width - left) * us) / timeline.us;
  const rows = timeline.lanes.flatMap(({ name, spans }, i) => {
    const busy = spans.reduce((sum, [begin, end]) => sum + end - begin, 0);
    const label = drawn("text", { x: 0, y: i * row + 13 }, `${name} ${Math.round((100 * busy) / timeline.us)} %`);
    return [label, ...spans.map(([begin, end]) => drawn("rect", { x: x(begin), y: i * row + 3, height: row - 5,
      width: Math.max(0.4, x(end) - x(begin)) }))];
  });
  return opened(`timeline of the final kernel, estimated: ${timeline.us.toFixed(2)} us`,
    drawn("svg", { class: "timeline", viewBox: `0 0 ${width} ${row * timeline.lanes.length}` }, ...rows));
}

const verdictView = (episode) => el("pre", { id: "verdict" }, [
  `${episode.outcome || "outstanding"} ${episode.code || ""} ${episode.line ? "line " + episode.line : ""}`,
  `${episode.turns || 0} turns, ended by ${episode.ended_by || "-"}, attempt ${episode.attempt || "-"}`,
  episode.trials ? `final check: ${episode.trials_passed} of ${episode.trials} trials passed` : "",
  episode.max_abs_err !== null ? `max_abs_err ${shown(episode.max_abs_err)}, rel_l2 ${shown(episode.rel_l2)}` : "",
  episode.estimate_us ? `estimate ${episode.estimate_us.toFixed(2)} us` : "", episode.message, episode.hints,
].filter(Boolean).join("\n"));

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
  const moves = [link("episodes?" + query(filter), "episodes", { id: "back" }), " ", step(-1, "previous"), " ",
    step(1, "next")];
  return [el("p", { className: "moves" }, moves), el("h2", {}, wanted.episode, " ", outcomeOf(place)),
    verdictView(episode), episode.timeline ? timelineView(episode.timeline) : null, turns].filter(Boolean);
}
