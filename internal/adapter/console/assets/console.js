// What a page can do beyond links and forms: live figures, and a key for the
// search field. Everything else works without this file.

const said = document.querySelector("[data-live-said]");
const state = document.querySelector("[data-live-state]");
const box = document.querySelector("[data-live]");

function show(word, kind) {
  if (!state) return;
  state.textContent = word;
  state.dataset.kind = kind;
}

// open details and the focus outlive a new drawing of the figures.
function replace(html) {
  const wasOpen = [...box.querySelectorAll("details")].map((d) => d.open);
  const places = [...box.querySelectorAll("a[href], button, [tabindex]")];
  const at = places.indexOf(document.activeElement);
  const scrolled = [...box.querySelectorAll(".scroll")].map((s) => s.scrollLeft);
  const before = box.querySelectorAll("details").length;
  box.innerHTML = html;
  const details = box.querySelectorAll("details");
  details.forEach((d, i) => { d.open = wasOpen[i + before - details.length] ?? false; });
  box.querySelectorAll(".scroll").forEach((s, i) => { s.scrollLeft = scrolled[i] ?? 0; });
  if (at >= 0) box.querySelectorAll("a[href], button, [tabindex]")[at]?.focus({ preventScroll: true });
}

function follow() {
  const source = new EventSource(box.dataset.live);
  source.onopen = () => show(box.dataset.sayOn, "on");
  source.onmessage = (event) => {
    show(box.dataset.sayOn, "on");
    const figures = JSON.parse(event.data);
    if (!getSelection().isCollapsed && box.contains(getSelection().anchorNode)) return; // somebody is copying
    replace(figures.html);
    if (said && said.textContent !== figures.said) said.textContent = figures.said;
  };
  source.addEventListener("away", () => show(box.dataset.sayAway, "lost"));
  source.addEventListener("ended", () => {
    source.close();
    show(box.dataset.sayEnded, "off");
  });
  source.onerror = () => {
    show(box.dataset.sayLost, "lost");
    if (source.readyState === EventSource.CLOSED) later = setTimeout(start, 30000);
  };
  return source;
}

let source = null;
let later = 0;
function start() {
  clearTimeout(later);
  if (box && box.dataset.live && !source) source = follow();
  else if (source && source.readyState === EventSource.CLOSED) source = follow();
}
function stop() {
  clearTimeout(later);
  source?.close();
  source = null;
  if (box) show(box.dataset.sayOff, "off");
}

// A page that nobody sees asks for nothing.
document.addEventListener("visibilitychange", () => (document.hidden ? stop() : start()));
addEventListener("pagehide", stop);
if (!document.hidden) start();

// Of a drawing over time that does not fit, the newest is looked for first.
document.querySelectorAll(".plot").forEach((plot) => { plot.parentElement.scrollLeft = plot.parentElement.scrollWidth; });

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  const field = document.getElementById("q");
  if (!field) return;
  event.preventDefault();
  field.focus();
  field.select();
});
