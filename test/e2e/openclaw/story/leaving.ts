import { expect, test, vi } from "vitest";
import { mustRunOpenClaw } from "../host/run-openclaw.ts";
import { throughReload } from "../host/through-reload.ts";
import { readLog, type Story } from "./story.ts";

/** How it ends: unpaired, and, paired and synced once more, uninstalled without that. */
export function tellOfLeaving(story: () => Story): void {
  test("openclaw svc unpair takes key and tools away from the running gateway, and says what stays", async () => {
    const { invoke, state } = story();
    const said = await throughReload(state, () => mustRunOpenClaw(state, ["svc", "unpair", "--yes"]));
    expect(said).toMatch(
      /^Unpaired[\s\S]*Stays: the key itself, on the service[\s\S]*revokes keys only in its dashboard/,
    );
    expect(said).not.toContain("may remember");
    expect((await invoke("drive_list_files")).status).toBe(404);
    expect((await invoke("svc_search_tools", { query: "list files" })).text).toContain("not paired");
    expect(JSON.stringify(await state.readConfig())).not.toContain("actions-plugin");
  });

  test("the host's own checks find nothing wrong with the plugin once it is allowed and the tools have a profile", async () => {
    const { login, state, sync } = story();
    await login("approve");
    await sync();
    await throughReload(state, () =>
      state.editConfig((config) => {
        Object.assign(config.plugins as object, { allow: ["svc", "svc-actions"] });
        config.tools = { profile: "coding" };
        // Without it, the host says of two agents that it does not know whose plugins to look at.
        Object.assign((config.agents as { defaults: object }).defaults, { systemAgent: { agentId: "main" } });
      }),
    );
    expect(await mustRunOpenClaw(state, ["plugins", "doctor"])).toMatch(/checks passed/);
    const { findings } = JSON.parse(await mustRunOpenClaw(state, ["security", "audit", "--deep", "--json"])) as Audit;
    expect(findings.filter((finding) => JSON.stringify(finding).includes("svc"))).toEqual([]);
  });

  test("uninstalled without unpair: no tool works or is offered any more, and the next start says what to run", async () => {
    const { grown, invoke, restart, state } = story();
    expect(await invoke("app_look", TEXT)).toMatchObject({ status: 200 });
    await mustRunOpenClaw(state, ["plugins", "uninstall", "svc", "--force"]);
    const before = grown.calls.length;
    expect(await invoke("app_look", TEXT)).toMatchObject({ status: 404 });
    expect(await readDirectory("after")).toEqual([]);
    await restart();
    await vi.waitFor(
      async () => expect(await readLog(state)).toContain("svc-actions: the plugin svc is not loaded"),
      PATIENCE,
    );
    expect(await invoke("app_look", TEXT)).toMatchObject({ status: 404 });
    expect(await readDirectory("restarted")).toEqual([]);
    expect(grown.calls).toHaveLength(before);
  });

  /** Names of action tools that the model is told of. */
  async function readDirectory(sessionKey: string): Promise<string[]> {
    const { model, say } = story();
    model.playTurn("Nothing.");
    await say("What can you do?", sessionKey);
    return model.requests.at(-1)?.raw.match(/- \w+ \(svc-actions\)/g) ?? [];
  }
}

const TEXT = { text: "over HTTP" };
const PATIENCE = { timeout: 120_000, interval: 250 };

interface Audit {
  readonly findings: readonly { readonly checkId: string }[];
}
