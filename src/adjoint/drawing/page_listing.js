// --- a text whose lines light up as they run -------------------------------------------------------------------------
let listing = null;
function listingPanel() {
  if (!data.listing) return;
  const { title, text, t, line, note } = data.listing, box = byId("listing"), rows = [];
  document.body.classList.add("listed");
  element("h2", box, title);
  const list = element("ol", box), said = element("p", box, "", { className: "hint" });
  said.setAttribute("aria-live", "polite");
  text.split("\n").forEach((words, k) => {
    const row = element("li", list, words || " "), first = line.indexOf(k + 1);
    if (first >= 0) {
      row.classList.add("runs");
      row.title = `runs at ${t[first].toFixed(2)} s: click to go there`;
      row.onclick = () => { play(false); seek(t[first] + 1e-6); };
    }
    rows.push(row);
  });
  listing = { t, line, note, rows, list, said, shown: -1, lit: 0 };
}
function showListing() {
  if (!listing) return;
  const { t, line, note, rows, list, said } = listing;
  let low = 0, high = t.length;  // the last event that is not after now
  while (high - low > 1) { const middle = (low + high) >> 1; if (t[middle] <= state.time) low = middle; else high = middle; }
  if (low === listing.shown) return;
  listing.shown = low;
  rows[listing.lit - 1]?.classList.remove("lit");
  listing.lit = line[low] ?? 0;
  said.textContent = note[low] ?? "";
  const row = rows[listing.lit - 1];
  if (!row) return;
  row.classList.add("lit");
  const above = row.offsetTop - list.offsetTop - list.clientHeight / 2;  // scrollIntoView would move the page, too
  list.scrollTop = Math.max(0, above);
}
