import { randomBytes } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ApprovalDecision, ApprovalRequest, Approver } from "../../../src/plugin/calls/ask/request.ts";
import { createToolSession, type SessionSettings, type ToolSession } from "../../../src/plugin/calls/session.ts";
import type { SessionEvent } from "../../../src/plugin/calls/session-events.ts";
import type { SvcClient } from "../../../src/plugin/client/client.ts";

/** A session, and everything it showed and said. */
export interface TestSession extends ToolSession {
  readonly asked: ApprovalRequest[];
  readonly events: SessionEvent[];
  /** Folder that local files may come from. */
  readonly media: string;
}

type Answer = (request: ApprovalRequest) => unknown;

const closers: (() => Promise<unknown>)[] = [];

/** Registers something to close after the test. */
export function closeLater<T extends { close(): Promise<unknown> }>(thing: T): T {
  closers.push(() => thing.close());
  return thing;
}

/** Closes everything the test opened, newest first; call it in `afterEach`. */
export async function closeAll(): Promise<void> {
  for (const close of closers.splice(0).reverse()) await close();
}

/** A temporary folder, removed after the test. */
export async function makeFolder(): Promise<string> {
  // In hex: no host takes the name for a key or a password, and masks it.
  const folder = join(tmpdir(), `svc-tools-${randomBytes(6).toString("hex")}`);
  await mkdir(folder, { mode: 0o700 });
  closers.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Opens a session against a service whose approver answers with `answer`; without one nobody can be asked. */
export async function openTestSession(
  service: { readonly url: string; readonly apiKey?: string },
  settings: SessionSettings & { readonly answer?: Answer; readonly key?: string; readonly client?: SvcClient } = {},
): Promise<TestSession> {
  const { answer, key, client, ...rest } = settings;
  const media = await makeFolder();
  const asked: ApprovalRequest[] = [];
  const events: SessionEvent[] = [];
  const approve: Approver = async (request) => {
    asked.push(request);
    return (await answer?.(request)) as ApprovalDecision;
  };
  const session = await createToolSession({
    ...(client === undefined ? { baseUrl: service.url, apiKey: key ?? service.apiKey ?? "svc_live_test" } : { client }),
    mediaRoots: [media],
    sleep: async () => undefined,
    random: () => 0.5,
    onEvent: (event) => events.push(event),
    ...(answer === undefined ? {} : { approve }),
    ...rest,
  });
  return closeLater({ ...session, asked, events, media });
}

/** Says yes to exactly what is shown. */
export function sayYes({ id, fingerprint }: ApprovalRequest): ApprovalDecision {
  return { type: "approve", id, fingerprint };
}

/** Says no. */
export function sayNo({ id, fingerprint }: ApprovalRequest): ApprovalDecision {
  return { type: "decline", id, fingerprint, message: "not now" };
}
