// Where one is, and moving on.

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

function onKey(event) {
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
}

(async () => {
  data = await unpacked($("data"));
  index = data.index;
  count = index.replicate.length;
  several = index.run.words.length > 1;
  $("note").textContent = `${count} episodes` +
    (data.synthetic ? "; synthetic models, which are no language models" : "");
  addEventListener("hashchange", show);
  addEventListener("keydown", onKey);
  await show();
})();
