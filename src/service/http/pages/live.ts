import { createHash } from "node:crypto";

/**
 * Keeps a page as it is in the service, without loading it again: every `data-refresh` seconds of its root it fetches
 * itself and takes over the content of elements with `data-live` and an id. Rows of a list are matched by their ids. An
 * element that has the focus stays as it is, and a chosen row stays chosen. New rows are counted in `#news`.
 */
export const LIVE_SCRIPT = `
(() => {
  const has = (part) => part.contains(document.activeElement);
  const box = (row) => row.querySelector("input[type=checkbox]");
  const takeRows = (list, fresh) => {
    const old = new Map([...list.children].map((row) => [row.id, row]));
    let last = null, added = 0;
    for (const row of [...fresh.children]) {
      const mine = old.get(row.id);
      old.delete(row.id);
      if (mine && (has(mine) || mine.isEqualNode(row))) { last = mine; continue; }
      if (mine) {
        if (box(mine) && box(row)) box(row).checked = box(mine).checked;
        mine.replaceWith(row);
      } else {
        if (last) last.after(row); else list.prepend(row);
        added += 1;
      }
      last = row;
    }
    for (const gone of old.values()) if (!has(gone)) gone.remove();
    return added;
  };
  const look = async () => {
    const reply = await fetch(location.href, { headers: { accept: "text/html" } });
    if (!reply.ok) return;
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    globalThis.showLocalTimes?.(page);
    document.title = page.title;
    document.documentElement.dataset.refresh = page.documentElement.dataset.refresh ?? "";
    let added = 0;
    for (const fresh of page.querySelectorAll("[data-live]")) {
      const mine = document.getElementById(fresh.id);
      if (fresh.tagName === "UL" && mine) added += takeRows(mine, fresh);
      else if (mine && !has(mine) && mine.innerHTML !== fresh.innerHTML) mine.replaceChildren(...fresh.childNodes);
    }
    const news = document.getElementById("news");
    if (news && added > 0) news.textContent = added === 1 ? "1 new request" : added + " new requests";
  };
  const wait = () => {
    const seconds = Number(document.documentElement.dataset.refresh);
    if (seconds > 0) setTimeout(() => look().catch(() => {}).finally(wait), seconds * 1000);
  };
  wait();
})();
`;

/** The source expression that lets this script run. */
export const LIVE_SCRIPT_SOURCE = `'sha256-${createHash("sha256").update(LIVE_SCRIPT).digest("base64")}'`;
