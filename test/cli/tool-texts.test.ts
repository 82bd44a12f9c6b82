import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtInIntegrations } from "../../src/apps/built-in.ts";
import { firstSentence } from "../../src/cli/commands/tools.ts";
import { startTestService, type TestService } from "../../src/testing.ts";
import { runSvc } from "../e2e/run-svc.ts";
import { createLab } from "../service/lab-integration.ts";

test.each([
  [
    "Moves an event to another calendar, i.e. changes its organizer. Then more.",
    "Moves an event to another calendar, i.e. changes its organizer.",
  ],
  ["Open a DM with one user (by user ID, e.g. U123). Or several.", "Open a DM with one user (by user ID, e.g. U123)."],
  ["Lists files, folders, etc. in a drive. More.", "Lists files, folders, etc. in a drive."],
  ["Lists files, folders, etc. Then more.", "Lists files, folders, etc."],
  ["Is it there? It says so.", "Is it there?"],
  ["Reads version 1.2 of it\nand no other.  Really.", "Reads version 1.2 of it and no other."],
  ["No end", "No end"],
])("%j is cut after its first sentence", (text, sentence) => {
  expect(firstSentence(text, 100)).toBe(sentence);
  expect(firstSentence(text, 5)).toHaveLength(5);
});

describe("a tool in the terminal", () => {
  let service: TestService;
  let home: string;
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "svc-tool-texts-"));
    service = await startTestService({ integrations: [...builtInIntegrations, createLab().integration] });
  });
  afterAll(async () => {
    await service.close();
    await rm(home, { recursive: true });
  });
  const run = async (...args: string[]) => {
    const env = { SVC_API_KEY: service.apiKey, SVC_BASE_URL: service.url };
    const { stdout, stderr, code } = await runSvc(args, home, { env });
    expect(code, stderr).toBe(0);
    return stdout;
  };

  test("tells which apps are not connected, in lists and by itself", async () => {
    const [tools, found, lab, mail] = await Promise.all([
      run("tools"),
      run("search", "look", "--json"),
      run("describe", "lab_look"),
      run("describe", "mail_search"),
    ]);
    expect(tools).toContain("\nlab (not connected: svc connect lab)\n  lab_");
    expect(tools).toMatch(/\nmail\n {2}mail_/);
    expect(JSON.parse(found)).toContainEqual(expect.objectContaining({ name: "lab_look", connected: false }));
    expect(lab).toContain('Not connected yet: "svc connect lab" prints the link.');
    expect(lab).not.toContain("Account:");
    expect(mail).toMatch(/^Account: Local mailbox \(con_\w+\), the default$/m);
    expect(mail).not.toContain("Not connected");
  });

  test("is called with values of the right kind", async () => {
    expect(await run("describe", "mail_send_message")).toContain(
      `Next: svc call mail_send_message --args '{"to":["…"],"subject":"…","body":"…"}'`,
    );
  });
});
