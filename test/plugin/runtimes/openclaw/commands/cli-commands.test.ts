import { Command } from "commander";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { readActions } from "../../../../../src/plugin/runtimes/openclaw/actions/actions-file.ts";
import { addCliCommands } from "../../../../../src/plugin/runtimes/openclaw/commands/cli-commands.ts";
import { createManyApp, createNumberedActions } from "../many-actions.ts";
import { openSyncKit, type SyncKit } from "../sync-kit.ts";

let kit: SyncKit;

beforeEach(async () => {
  kit = await openSyncKit([createManyApp("crm", createNumberedActions(3))]);
});

afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  process.exitCode = undefined;
  await kit.close();
});

/** Runs `openclaw svc …` in the host's own program, without a terminal. */
async function run(...args: readonly string[]) {
  const written = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    vi.spyOn(process[name], "write").mockImplementation((text) => {
      written[name] += String(text);
      return true;
    });
  }
  const program = new Command("openclaw").exitOverride();
  addCliCommands(program, { host: kit.host, api: kit.api, config: kit.config.current });
  process.exitCode = undefined;
  await program.parseAsync(["node", "openclaw", "svc", ...args]);
  const exit = process.exitCode ?? 0;
  process.exitCode = undefined;
  vi.restoreAllMocks();
  expect(written.stdout + written.stderr).not.toContain("svc_live_");
  return { exit, ...written };
}

describe("openclaw svc", () => {
  test("has every command, and loads nothing to say so", () => {
    const program = new Command("openclaw");
    addCliCommands(program, { host: kit.host, api: kit.api, config: {} });
    expect(program.commands[0]?.commands.map((command) => command.name())).toEqual([
      "pair",
      "status",
      "sync",
      "move",
      "unpair",
      "pending",
      "show",
      "approve",
      "decline",
      "rules",
    ]);
  });

  test("refuses a program it does not know", () => {
    const call = { host: kit.host, api: kit.api, config: {} };
    for (const program of [undefined, {}, { command: 1 }])
      expect(() => addCliCommands(program, call)).toThrow(TypeError);
  });

  test.each(["status", "doctor"])("%s --json is JSON on stdout alone", async (name) => {
    const { exit, stdout, stderr } = await run(name, "--json");
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, key: "config", actions: 0, findings: expect.any(Array) });
    expect([exit, stderr]).toEqual([0, ""]);
  });

  test("status says on stderr what is wrong, with an exit code", async () => {
    await kit.stopService();
    const { exit, stdout, stderr } = await run("status");
    expect([exit, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/FAIL {2}No service answers/);
    await kit.offer(createManyApp("crm", createNumberedActions(1)));
  });

  test("unpair forgets nothing that nobody agreed to forget", async () => {
    expect(await run("unpair")).toMatchObject({ exit: 4, stderr: expect.stringMatching(/forgets the key.*--yes/) });
  });

  test("sync applies nothing that nobody agreed to", async () => {
    const { exit, stderr } = await run("sync");
    expect(exit).toBe(4);
    expect(stderr).toMatch(/Added:\n {2}crm_act_0 {2}\(read\)[\s\S]*Apply it with --yes/);
    const dry = await run("sync", "--dry-run", "--json");
    expect(JSON.parse(dry.stdout)).toMatchObject({ applied: false, total: 3, added: expect.any(Array) });
    expect(readActions(kit.host.places.actions)).toBeUndefined();
    expect(kit.config.current).toEqual({});
  });

  test("sync --yes applies, and has nothing to ask when nothing changes", async () => {
    const first = await run("sync", "--yes", "--json");
    expect(JSON.parse(first.stdout)).toMatchObject({ applied: true, added: { length: 3 } });
    expect(readActions(kit.host.places.actions)?.actions).toHaveLength(3);
    const again = await run("sync");
    expect([again.exit, again.stdout]).toEqual([0, expect.stringMatching(/nothing changes/)]);
  });

  test("a sync of a service that is down leaves the tools as they are", async () => {
    await run("sync", "--yes");
    await kit.stopService();
    const { exit, stderr } = await run("sync", "--yes");
    expect(exit).toBe(1);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(readActions(kit.host.places.actions)?.actions).toHaveLength(3);
    await kit.offer(createManyApp("crm", createNumberedActions(3)));
  });

  test.each([
    [["approve", "ABCD2345"], 4, /needs a terminal.*\/svc approve/],
    [["pending"], 1, /gateway/],
    [["decline", "ABCD2345"], 1, /gateway/],
    [["unpair", "--yes"], 1, /openclaw models auth logout svc:default/],
    [["pair"], 1, /models auth login --provider svc --method pair/],
    [
      ["pair", "--base-url", "https://other.example"],
      1,
      /openclaw config set plugins\.entries\.svc\.config\.baseUrl https:\/\/other/,
    ],
  ])("%j without a host to help says what else to do", async (args, code, text) => {
    const { exit, stderr } = await run(...args);
    expect(stderr).toMatch(text);
    expect(exit).toBe(code);
  });

  test("pair takes the set address in another spelling, and asks the host to pair", async () => {
    const set = kit.host.settings().baseUrl ?? "";
    const { stderr } = await run("pair", "--base-url", `${set.replace("http", "HTTP")}/`);
    expect(stderr).toMatch(/models auth login --provider svc --method pair/);
  });

  test.each([[["pending"]], [["show", "ABCD2345"]], [["approve", "ABCD2345"]], [["rules", "revoke", "all"]]])(
    "%j is not for the agent's own shell",
    async (args) => {
      vi.stubEnv("OPENCLAW_SHELL", "exec");
      const { exit, stderr } = await run(...args);
      expect([exit, stderr]).toEqual([4, expect.stringMatching(/for a human/)]);
    },
  );
});
