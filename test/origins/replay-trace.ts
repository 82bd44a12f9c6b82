import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtInIntegrations } from "../../src/apps/built-in.ts";
import type { Integration } from "../../src/apps/port/integration.ts";
import { createToolSession, type ToolOutcome, type ToolSession } from "../../src/index.ts";
import type { ApprovalRequest } from "../../src/plugin/calls/ask/request.ts";
import { isRecord } from "../../src/shared/base/json.ts";
import { startTestService } from "../../src/testing.ts";
import { layWorld } from "./lay-world.ts";
import { nameOwner } from "./name-owner.ts";
import type { Trace, TraceCall } from "./read-traces.ts";

/** What the human was shown of the write of a trace. */
export interface Replay {
  /** Undefined where nobody was asked. */
  readonly request: ApprovalRequest | undefined;
  readonly outcome: ToolOutcome;
  /** Reads that failed, as text. */
  readonly problems: readonly string[];
}

/** Does what an agent did, against a real service with the world of the trace; the write is declined. */
export async function replayTrace(trace: Trace): Promise<Replay> {
  const { world } = trace;
  const now = Date.parse(`${world.owner.today}T09:00:00Z`);
  const root = await mkdtemp(join(tmpdir(), "svc-trace-"));
  const media = join(root, "media");
  await mkdir(media);
  const service = await startTestService({
    dataDir: join(root, "data"),
    integrations: [...builtInIntegrations, ...createAddedApps(trace)],
    now: () => now,
  });
  const requests: ApprovalRequest[] = [];
  let isApproving = true;
  const session = await createToolSession({
    baseUrl: service.url,
    apiKey: service.apiKey,
    mediaRoots: [media],
    approve: async (request) => {
      requests.push(request);
      const { id, fingerprint } = request;
      return isApproving ? { type: "approve", id, fingerprint, always: false } : { type: "decline", id, fingerprint };
    },
  });
  try {
    await layWorld(service.dataDir, world, { now });
    await nameOwner(service.service.connections, world);
    const problems: string[] = [];
    const run = async (call: TraceCall) => {
      const args = await resolveFiles(session, { call, trace, media });
      return session.call({ callId: randomUUID(), toolName: call.tool, arguments: args, ownerWords: toWords(trace) });
    };
    for (const call of [...trace.before, ...trace.reads]) {
      const outcome = await run(call);
      if (outcome.status !== "succeeded") problems.push(`${call.tool}: ${JSON.stringify(outcome).slice(0, 300)}`);
    }
    isApproving = false;
    const asked = requests.length;
    const outcome = await run(trace.write);
    return { request: requests[asked], outcome, problems };
  } finally {
    await session.close();
    await service.close();
    await rm(root, { recursive: true, force: true });
  }
}

function toWords({ owner_text: text }: Trace): readonly string[] {
  return text === null ? [] : [text];
}

/** Apps that the owner added: their answers are those of the trace. */
function createAddedApps({ world, reads }: Trace): Integration[] {
  const groups = Object.groupBy(world.tools, (tool) => tool.app);
  return Object.entries(groups).map(([slug, tools = []]) => ({
    slug,
    name: slug,
    description: "",
    category: "",
    scopes: [],
    checkSettings: async () => {},
    actions: tools.map(({ name, level, description, input_schema: inputSchema }) => ({
      id: name,
      title: name,
      description,
      level,
      requiresConfirmation: level !== "read",
      idempotent: level === "read",
      scopes: [],
      inputSchema,
      run: async (args) => {
        const same = reads.find(
          (read) => read.tool === `${slug}_${name}` && JSON.stringify(read.arguments) === JSON.stringify(args),
        );
        return same?.result ?? null;
      },
    })),
  }));
}

interface Places {
  readonly call: TraceCall;
  readonly trace: Trace;
  readonly media: string;
}

/** The arguments with real files in place of stand-ins: local ones, files of the drive, attachments. */
async function resolveFiles(session: ToolSession, places: Places): Promise<Record<string, unknown>> {
  const resolve = async (value: unknown): Promise<unknown> => {
    if (Array.isArray(value)) return Promise.all(value.map(resolve));
    if (!isRecord(value)) return value;
    const { s3key, name } = value;
    if (typeof s3key === "string" && typeof name === "string") return findFile(session, places, { s3key, name, value });
    const entries = Object.entries(value).map(async ([key, part]) => [key, await resolve(part)] as const);
    return Object.fromEntries(await Promise.all(entries));
  };
  const resolved = await resolve(places.call.arguments);
  return isRecord(resolved) ? resolved : {};
}

async function findFile(
  session: ToolSession,
  { trace, media }: Places,
  { s3key, name, value }: { readonly s3key: string; readonly name: string; readonly value: unknown },
): Promise<unknown> {
  const [kind, rest = ""] = splitOnce(s3key, ":");
  if (kind === "upload") {
    await writeFile(join(media, name), trace.uploads?.[s3key]?.text ?? "");
    return join(media, name);
  }
  if (kind === "drive") return takeFile(session, "drive_read_file", { path: rest, as_file: true });
  if (kind !== "attachment") return value;
  const [mailId, index] = rest.split(".");
  const mail = trace.world.mails.find(({ id }) => id === mailId);
  const message_id = `${Date.parse(mail?.date ?? "") / 1000}.${mailId}`;
  return takeFile(session, "mail_get_attachment", { message_id, index: Number(index) });
}

async function takeFile(session: ToolSession, toolName: string, args: Record<string, unknown>): Promise<unknown> {
  const outcome = await session.call({ callId: randomUUID(), toolName, arguments: args });
  const file = outcome.status === "succeeded" && isRecord(outcome.result) ? outcome.result.file : undefined;
  if (!isRecord(file)) throw new Error(`${toolName} gave no file: ${JSON.stringify(outcome).slice(0, 500)}`);
  return file;
}

function splitOnce(text: string, mark: string): string[] {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + mark.length)];
}
