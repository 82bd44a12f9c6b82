import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openCredentialStore } from "../../src/plugin/pairing/credentials.ts";
import { startProbeService } from "../contract/probe-service.ts";
import { type WatchedProcess, watchProcess } from "../e2e/watch-process.ts";
import { choose } from "./kit/fault-form.ts";
import { checkOutcome, openFaultSession } from "./kit/fault-lab.ts";

/** Processes that share credentials and state, some of which are killed, at a place of chance or with the lock in their hands. */

const CHILD = fileURLToPath(new URL("kit/sharing-child.ts", import.meta.url));
/** Only one process changes each part, so that it must find there what it wrote. */
const PARTS = ["credentials", "pending"] as const;
const KILLS = choose({ short: 2, long: 60 });
/** Turns that each survivor makes after a kill. */
const TURNS = 2;

test("nothing is undone, torn or done twice, and no lock outlives its holder", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-sharing-"));
  await mkdir(join(folder, "config"));
  const service = await startProbeService();
  const start = (part: string, name: string): WatchedProcess => {
    const args = [CHILD, folder, service.url, service.apiKey, part, name];
    return watchProcess(process.execPath, args, { env: { ...process.env, TMPDIR: folder }, timeoutMs: 300_000 });
  };
  const steady = PARTS.map((part) => start(part, part));
  const printed: string[] = [];
  try {
    let reached = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      // It has no part of its own: it only gets in the way of the others.
      const doomed = start("nothing", `doomed-${kill}`);
      // Every other one ends by its own hand, while it holds the lock of the credentials.
      if (kill % 2 === 1) {
        await doomed.waitFor(/^turn 0$/m);
        doomed.kill("SIGKILL");
      }
      await doomed.done;
      printed.push(doomed.output());
      reached += TURNS;
      for (const one of steady) await one.waitFor(new RegExp(`^turn ${reached}$`, "m"));
    }
  } finally {
    for (const one of steady) one.kill("SIGKILL");
    for (const one of steady) await one.done;
    for (const one of steady) printed.push(one.output());
  }
  expect(
    printed
      .join("")
      .split("\n")
      .filter((line) => line !== "" && !/^turn \d+$/.test(line)),
  ).toEqual([]);
  const effects = new Map<string, number>();
  for (const { args } of service.probe.calls) effects.set(String(args.text), (effects.get(String(args.text)) ?? 0) + 1);
  expect([...effects].filter(([, times]) => times !== 1)).toEqual([]);

  const store = openCredentialStore(join(folder, "config"));
  await store.write({ baseUrl: service.url, apiKey: "last", apiKeyId: "1", pairedAt: "2026-01-01" });
  expect((await store.read())?.apiKey).toBe("last");
  expect(await readdir(join(folder, "config"))).toEqual(["credentials.json"]);
  const { session, close } = await openFaultSession(service, { stateDir: join(folder, "state") });
  const outcome = await session.call({ callId: "last", toolName: "probe_write_text", arguments: { text: "last" } });
  checkOutcome(outcome, service.probe.calls.filter(({ args }) => args.text === "last").length, "the last call");
  expect(outcome.status).toBe("succeeded");
  await close();
  const left = (await readdir(join(folder, "state"))).filter((name) => name.startsWith("state.db"));
  expect(left).toEqual(["state.db"]);
  await service.close();
  await rm(folder, { recursive: true, force: true });
}, 300_000);
