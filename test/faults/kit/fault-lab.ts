import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import type { Approver } from "../../../src/plugin/calls/ask/request.ts";
import type { ToolOutcome } from "../../../src/plugin/calls/outcome.ts";
import { createToolSession, type SessionSettings, type ToolSession } from "../../../src/plugin/calls/session.ts";
import { SvcClient } from "../../../src/plugin/client/client.ts";

/** Says yes to everything that is shown. */
export const approveAll: Approver = async ({ id, fingerprint }) => ({ type: "approve", id, fingerprint });

/** A session with folders of its own and a human who says yes. */
export interface FaultSession {
  readonly session: ToolSession;
  readonly stateDir: string;
  /** A file below the media root, with this content. */
  makeFile(name: string, content: string): Promise<string>;
  close(): Promise<void>;
}

/** Opens a session on a service or on a proxy before it. No retry waits in real time; `settings.sleep` is told of each. */
export async function openFaultSession(
  service: { readonly url: string; readonly apiKey: string },
  settings: SessionSettings = {},
): Promise<FaultSession> {
  const folder = await mkdtemp(join(tmpdir(), "svc-faults-"));
  const stateDir = settings.stateDir ?? join(folder, "state");
  const sleep = settings.sleep ?? (async () => {});
  const client = new SvcClient({
    baseUrl: service.url,
    apiKey: service.apiKey,
    sleep,
    ...(settings.now === undefined ? {} : { now: settings.now }),
    ...(settings.timeoutMs === undefined ? {} : { timeoutMs: settings.timeoutMs }),
  });
  const leave = async () => {
    await client.close();
    await rm(folder, { recursive: true, force: true });
  };
  const parts = { client, mediaRoots: [folder], approve: approveAll, sleep, ...settings, stateDir };
  const session = await createToolSession(parts).catch(async (error: unknown) => {
    await leave();
    throw error;
  });
  return {
    session,
    stateDir,
    async makeFile(name, content) {
      const path = join(folder, name);
      await writeFile(path, content);
      return path;
    },
    async close() {
      await session.close();
      await leave();
    },
  };
}

/** Effects that may lie behind an outcome: one for a success, none for a refusal, either when it is not known. */
const EFFECTS: Readonly<Record<ToolOutcome["status"], readonly number[]>> = {
  succeeded: [1],
  unknown: [0, 1],
  failed: [0],
  declined: [0],
  needs_approval: [0],
  needs_connection: [0],
};

/** Checks that an outcome says the truth about the effects there were, and that a refusal tells why and what next. */
export function checkOutcome(outcome: ToolOutcome, effects: number, what: string): void {
  expect(EFFECTS[outcome.status], `${what}: ${outcome.status} (${outcome.code}) with ${effects} effects`).toContain(
    effects,
  );
  if (outcome.status === "succeeded") return;
  expect(outcome, what).toMatchObject({
    code: expect.stringMatching(/^[a-z_]+$/),
    message: expect.stringMatching(/\S/),
  });
}

/** How an outcome is counted in a table. */
export function nameOutcome(outcome: ToolOutcome): string {
  return outcome.status === "failed" ? `failed: ${outcome.code}` : outcome.status;
}
