import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchChromium, openWindow, signIn } from "../../browser/chromium.ts";
import { connectOperator } from "../host/operator.ts";
import { mustRunOpenClaw, runOpenClaw } from "../host/run-openclaw.ts";
import { PAIR_LINK } from "../host/set-up-plugin.ts";
import { startInTerminal } from "../host/start-in-terminal.ts";
import { KEY, type Story } from "./story.ts";

/** Pairing by chat and by terminal, and the action tools; ends paired and synced. */
export function tellOfPairing(story: () => Story): void {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  test("before pairing, /svc says how to pair", async () => {
    expect(await story().say("/svc status")).toMatch(/FAIL {2}Not paired[\s\S]*Fix: .*\/login svc/);
    expect(await story().say("/svc pair")).toContain("/login svc");
  });

  test("/login svc shows link and code; a no on the page ends it with the reason", async () => {
    const said = await story().login("decline");
    expect(said).toMatch(/Code: \w{4}-\w{4}\. Approve only if the page shows this code/);
    expect(said).toContain("declined");
    expect(await story().say("/svc status")).toContain("Not paired");
  });

  test("/login svc pairs, and everything works at once", async () => {
    const { say, invoke, login } = story();
    expect(await login("approve")).toMatch(/Paired with http\S+[\s\S]*login complete/);
    expect(await say("/svc status")).toMatch(/key is from OpenClaw's credential store[\s\S]*key is accepted/);
    expect((await invoke("svc_search_tools", { query: "list files" })).text).toContain("drive_list_files");
  });

  test("openclaw svc unpair is enough where nothing was synced, too", async () => {
    const { say, state } = story();
    await mustRunOpenClaw(state, ["svc", "unpair", "--yes"]);
    expect(await say("/svc status")).toContain("Not paired");
  });

  test("pairs through the host's own sign-in, with a click on the approval page", async () => {
    const { state, service } = story();
    // With two agents, the host wants to know whose sign-in it is.
    const words = ["models", "auth", "--agent", "main", "login", "--provider", "svc", "--method", "pair"];
    const login = startInTerminal(state, words);
    await login.waitFor(PAIR_LINK);
    const [, code] = await login.waitFor(/\b([A-Z0-9]{4}-[A-Z0-9]{4})\b/);
    // Anew, as a terminal may pass a line on in pieces, and the code comes after the link.
    const [link] = await login.waitFor(PAIR_LINK);
    const page = await openWindow(browser, { colorScheme: "light", width: 390 });
    await signIn(page, await service.service.signInUrl());
    await page.goto(link);
    expect((await page.locator(".code strong").textContent())?.trim()).toBe(code);
    await page.getByRole("button", { name: "Approve device" }).click();
    await page.getByRole("heading", { name: /^Device (approved|paired)$/ }).waitFor();
    await page.context().close();
    expect(await login.done, login.output()).toBe(0);
    expect(login.output()).not.toMatch(KEY);
    expect(await readFile(state.configPath, "utf8")).not.toMatch(KEY);
  });

  test("/svc sync gives the actions tools after it has shown them", async () => {
    const { invoke, say, state, sync } = story();
    expect((await invoke("drive_list_files")).status).toBe(404);
    expect(await sync()).toMatch(/^ {2}drive_list_files {2}\(read\)$/m);
    const listed = await invoke("drive_list_files");
    expect(listed.status).toBe(200);
    expect(listed.text).toContain('"status":"succeeded"');
    expect(await say("/svc status")).toMatch(/^All well: \d+ tools of \d+ apps\./);
    const { findings } = JSON.parse(await mustRunOpenClaw(state, ["svc", "status", "--json"]));
    expect(findings).toContainEqual(
      expect.objectContaining({ id: "tools", text: expect.stringMatching(/^All \d+ tools/) }),
    );
  });

  test("a client without the right to approve gets nothing from /svc", async () => {
    const { gateway, state } = story();
    const guest = await connectOperator(gateway, state, ["operator.read", "operator.write"]);
    const reply = await (await guest.chat("/svc pending", { sessionKey: "guest" })).done;
    await guest.close();
    expect(reply).toContain("operator.approvals");
  });

  test("what an agent sends to another conversation is no command", async () => {
    const { model, say } = story();
    await say("Hello.", "other");
    const send = { sessionKey: "agent:main:other", message: "/svc pending", timeoutSeconds: 30 };
    const asked: string[] = [];
    model.play(({ words, results }) => {
      if (words.includes("/svc pending")) return "I am a model.";
      // Only once: the host lets the two conversations talk on by themselves.
      if (asked.length > 0) return results.at(-1) ?? "Enough.";
      asked.push(words);
      return { tool: "sessions_send", args: send };
    });
    expect(await say("Ask the other one what waits.")).toContain("I am a model.");
  });

  test("the command line asks the running gateway, but not for the agent's own shell", async () => {
    const { state } = story();
    expect(JSON.parse(await mustRunOpenClaw(state, ["svc", "pending", "--json"]))).toEqual([]);
    const fromShell = await runOpenClaw(state, ["svc", "pending"], { OPENCLAW_SHELL: "exec" });
    expect(fromShell).toMatchObject({ code: 4, stderr: expect.stringContaining("for a human") });
  });

  test("the key is in the host's store and nowhere else", async () => {
    const { gateway, operator, state } = story();
    const holders: string[] = [];
    for (const file of await readdir(state.folder, { recursive: true, withFileTypes: true })) {
      const path = join(file.parentPath, file.name);
      if (!file.isFile() || /\/node_modules\//.test(path)) continue;
      // The gateway goes on working: what was there a moment ago may be gone.
      const text = await readFile(path, "latin1").catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "ENOENT") throw error;
        return "";
      });
      if (/svc_live_[\w-]{20,}/.test(text)) holders.push(file.name);
    }
    expect(new Set(holders.map((name) => name.replace(/-wal$/, "")))).toEqual(new Set(["openclaw.sqlite"]));
    expect(gateway.output()).not.toMatch(KEY);
    expect(JSON.stringify(operator.events)).not.toMatch(KEY);
  });
}
