import { expect, it } from "vitest";
import { createCalendarIntegration } from "../../src/apps/calendar/calendar-integration.ts";
import { ics } from "./calendar/kit/write-ics.ts";
import { createRunner } from "./run-action.ts";
import { startDavAccount } from "./untouched/dav-account.ts";

it("reads and changes the events of a server that packs its answers, whatever was asked for", async () => {
  const account = await startDavAccount({ packed: true });
  try {
    await account.fill(new Map([["c/a.ics", ics(["UID:1", "SUMMARY:A", "DTSTART:20261127T090000Z"])]]));
    const run = createRunner(createCalendarIntegration(), { settings: account.settings });
    const { events } = await run("list_events", { from: "2026-11-27", to: "2026-11-27", query: "", limit: 10 });
    expect(events).toMatchObject([{ title: "A", start: "2026-11-27T10:00:00+01:00" }]);
    await run("update_event", { event_id: events[0].event_id, title: "A", new_title: "B" });
    expect((await account.look()).get("c/a.ics")).toContain("SUMMARY:B");
  } finally {
    await account.close();
  }
});
