import { createHash } from "node:crypto";

/**
 * Shows times in the zone and the form of the browser: a page has them in UTC. An exact time (`data-local="exact"`) is
 * written anew, with UTC as its title; one like "3 minutes ago" gets the exact time as its title. Pressing a time swaps the
 * two, for browsers that show no titles. Fields for days (`data-zone`) are sent and named with the zone of the browser.
 */
export const LOCAL_TIMES_SCRIPT = `
(() => {
  const form = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });
  globalThis.showLocalTimes = (page) => {
    for (const time of page.querySelectorAll("time[data-local]")) {
      const at = new Date(time.dateTime);
      if (Number.isNaN(at.getTime())) continue;
      if (time.dataset.local === "exact") [time.title, time.textContent] = [time.textContent, form.format(at)];
      else time.title = form.format(at);
    }
    const zone = form.resolvedOptions().timeZone;
    for (const place of page.querySelectorAll("[data-zone]")) {
      if (place.tagName === "INPUT") place.value = zone;
      else place.textContent = zone;
    }
  };
  addEventListener("DOMContentLoaded", () => showLocalTimes(document));
  addEventListener("click", ({ target }) => {
    const time = target.closest?.("time[data-local]");
    if (time && !time.closest("a")) [time.title, time.textContent] = [time.textContent, time.title];
  });
})();
`;

/** The source expression that lets this script run. */
export const LOCAL_TIMES_SOURCE = `'sha256-${createHash("sha256").update(LOCAL_TIMES_SCRIPT).digest("base64")}'`;
