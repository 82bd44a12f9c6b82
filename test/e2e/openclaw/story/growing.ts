import { expect, test, vi } from "vitest";
import { mustRunOpenClaw } from "../host/run-openclaw.ts";
import { syncPlugin } from "../host/set-up-plugin.ts";
import { readLog, type Story } from "./story.ts";

const PATIENCE = { timeout: 120_000, interval: 250 };

/** The generated plugin when a call waits while it is written anew. */
export function tellOfGrowing(story: () => Story): void {
  test("a sync while a call waits for a person: the call runs once, and the new tools come with the next reload", async () => {
    const { grow, grown, invoke, model, operator, small, state } = story();
    model.playTurn({ tool: "app_change", args: { text: "waiting" } }, "Done.");
    const turn = await operator.chat("Go.", { sessionKey: "waiting" });
    const card = await operator.take("plugin.approval.requested");
    await grow();
    expect(await syncPlugin(state)).toMatch(/app_more[\s\S]*Afterwards run: openclaw plugins reload svc-actions/);
    await vi.waitFor(
      async () => expect(await readLog(state)).toContain("Plugin svc-actions still has active retained work"),
      PATIENCE,
    );
    expect(await invoke("app_look", TEXT)).toMatchObject({ status: 200 });
    expect(await invoke("app_more", TEXT)).toMatchObject({ status: 404 });
    await operator.request("plugin.approval.resolve", { id: card.id, decision: "allow-once" });
    expect(await turn.done).toBe("Done.");
    expect(model.requests.at(-1)?.results.at(-1)).toContain("succeeded");
    expect([...small.calls, ...grown.calls].filter(({ action }) => action === "change")).toHaveLength(1);
    // The host lets go of a turn a little after it has told its end.
    await vi.waitFor(() => mustRunOpenClaw(state, ["plugins", "reload", "svc-actions"]), PATIENCE);
    expect(await invoke("app_more", TEXT)).toMatchObject({ status: 200 });
  });
}

const TEXT = { text: "over HTTP" };
