import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestService, type TestService } from "../../src/testing.ts";
import { runSvc } from "../e2e/run-svc.ts";
import { findFreePort } from "../service/free-port.ts";

let service: TestService;
let home: string;
let openClaw: string;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "svc-doctor-"));
  openClaw = join(home, "openclaw");
});

afterEach(() => rm(home, { recursive: true, force: true }));

interface Finding {
  readonly id: string;
  readonly level: "ok" | "warn" | "fail";
  readonly text: string;
  readonly fix?: string;
}

/** Runs `svc doctor` with an OpenClaw state folder of its own; none of the user's is ever looked at. */
async function doctor(
  env: Readonly<Record<string, string>> = { SVC_API_KEY: service.apiKey, SVC_BASE_URL: service.url },
) {
  const outside = { HOME: home, OPENCLAW_STATE_DIR: openClaw, OPENCLAW_CONFIG_PATH: "", ...env };
  const run = await runSvc(["doctor", "--json"], home, { env: outside });
  expect(run.stdout + run.stderr).not.toMatch(/svc_live_|\n\s+at /);
  const { ok, findings }: { ok: boolean; findings: Finding[] } = JSON.parse(run.stdout);
  return { code: run.code, ok, find: (id: string) => findings.find((finding) => finding.id === id), findings };
}

describe("svc doctor", () => {
  test("finds nothing wrong where everything is well, and says so to people too", async () => {
    const { code, ok, findings } = await doctor();
    expect([code, ok]).toEqual([0, true]);
    expect(findings.map(({ id, level }) => [id, level])).toEqual(
      ["node", "credential", "service", "key.accepted", "clock", "media"].map((id) => [id, "ok"]),
    );
    const env = { HOME: home, SVC_API_KEY: service.apiKey, SVC_BASE_URL: service.url, OPENCLAW_STATE_DIR: openClaw };
    const { stdout } = await runSvc(["doctor"], home, { env });
    expect(stdout).toMatch(/^ok {4}Node [\d.]+ is new enough\.\n(?:ok {4}.*\n)+$/);
  });

  test.each([
    ["an address that cannot be one", { SVC_BASE_URL: "foo" }, /absolute http or https address/],
    ["the same with a key", { SVC_BASE_URL: "foo", SVC_API_KEY: "svc_live_x" }, /absolute http or https address/],
  ])("names %s once", async (_case, env, text) => {
    const { code, findings } = await doctor(env);
    expect(code).toBe(1);
    expect(findings.filter(({ level }) => level === "fail")).toEqual([
      { id: "access", level: "fail", text: expect.stringMatching(text), fix: expect.stringContaining("https://") },
    ]);
  });

  test.each([
    ["nothing is paired", () => ({ SVC_BASE_URL: service.url }), "access", /svc pair/],
    [
      "the key is revoked",
      () => ({ SVC_API_KEY: "svc_live_revoked", SVC_BASE_URL: service.url }),
      "key.accepted",
      /svc pair --again/,
    ],
    [
      "a media root is unsafe",
      () => ({ SVC_API_KEY: service.apiKey, SVC_BASE_URL: service.url, SVC_MEDIA_ROOTS: "/" }),
      "media",
      /./,
    ],
  ])("fails and names the fix when %s", async (_what, env, id, fix) => {
    const { code, ok, find } = await doctor(env() as Record<string, string>);
    expect([code, ok]).toEqual([1, false]);
    expect(find(id)).toMatchObject({ level: "fail", fix: expect.stringMatching(fix) });
  });

  test("says how to start a service when none answers, without a key too", async () => {
    const SVC_BASE_URL = `http://127.0.0.1:${await findFreePort()}`;
    for (const env of [{ SVC_BASE_URL }, { SVC_BASE_URL, SVC_API_KEY: service.apiKey }]) {
      const { code, find } = await doctor(env);
      expect(code).toBe(1);
      expect(find("service")).toMatchObject({ level: "fail", fix: expect.stringMatching(/svc serve/) });
    }
  });

  test("names the setting of the file that is wrong", async () => {
    await mkdir(join(home, "config"), { recursive: true });
    await writeFile(join(home, "config", "config.json"), '{"upload": "pigeon"}');
    const { code, find } = await doctor();
    expect(code).toBe(1);
    expect(find("access")?.text).toContain("upload");
  });
});

describe("svc doctor beside an OpenClaw", () => {
  const state = () => join(openClaw, "svc");
  /** What a pairing leaves, here or before an unpairing. */
  const pair = async (keys: object = { k: { baseUrl: service.url, pairedAt: "2026-01-01T00:00:00.000Z" } }) => {
    await mkdir(state(), { recursive: true });
    await writeFile(join(state(), "key-origins.json"), JSON.stringify({ version: 1, keys }));
  };

  test("says which command checks it, and that no action is synced", async () => {
    await pair();
    const { code, find } = await doctor();
    expect(code).toBe(0);
    expect(find("openclaw.plugin")).toMatchObject({
      level: "ok",
      text: expect.stringContaining("openclaw svc status"),
    });
    expect(find("openclaw.actions")).toMatchObject({ level: "warn", fix: "openclaw svc sync" });
  });

  test("says that the file of the action tools is damaged", async () => {
    await mkdir(state(), { recursive: true });
    await writeFile(join(state(), "actions.json"), "{");
    const { code, find } = await doctor();
    expect(code).toBe(1);
    expect(find("openclaw.actions")).toMatchObject({ level: "fail", fix: "openclaw svc sync" });
  });

  test("does not fail for a missing key of its own where svc is used in OpenClaw only", async () => {
    await pair();
    const { code, find } = await doctor({ SVC_BASE_URL: service.url });
    expect(code).toBe(0);
    expect(find("access")).toMatchObject({ level: "warn" });
  });

  test("does not take what an unpairing leaves for a key", async () => {
    await pair({});
    const { code, find } = await doctor({ SVC_BASE_URL: service.url });
    expect(code).toBe(1);
    expect(find("openclaw.plugin")?.text).toMatch(/was used.*openclaw svc status/);
    expect(find("openclaw.actions")).toBeUndefined();
  });

  test("tells how to add svc where it is not set up", async () => {
    await mkdir(openClaw);
    const { code, find } = await doctor();
    expect(code).toBe(0);
    expect(find("openclaw.plugin")?.text).toContain("docs/openclaw.md");
  });
});
