import { z } from "zod";
import {
  type ActionContext,
  changeValue,
  checkState,
  createProviderError,
  defineAction,
  type Integration,
  quoteName,
  readRetryAfter,
  ServiceError,
} from "../../../../src/service.ts";

const settingsSchema = z.looseObject({ address: z.url({ protocol: /^https?$/ }), token: z.string().min(1) });
const countSchema = z.looseObject({ count: z.int() });

const READ = { level: "read", requiresConfirmation: false, idempotent: true, scopes: [] } as const;
const WRITE = { level: "write", requiresConfirmation: true, idempotent: false, scopes: [] } as const;

const readCount = defineAction({
  ...READ,
  id: "read_count",
  title: "Read a count",
  description: "How often something was counted so far.",
  arguments: z.strictObject({ thing: z.string().min(1).describe("What was counted, e.g. cups of tea.") }),
  run: ({ thing }, context) => ask({ method: "GET", thing }, context, READ),
});

const addOne = defineAction({
  ...WRITE,
  id: "add_one",
  title: "Count one more",
  description: "Adds one to a count and gives the new count.",
  arguments: z.strictObject({ thing: z.string().min(1).describe("What to count.") }),
  async preview({ thing }, context) {
    const { count } = await ask({ method: "GET", thing }, context, READ);
    return {
      summary: `Count one more of ${quoteName(thing)}`,
      changes: changeValue("Count", count, count + 1),
      undo: { possible: false, why: "Tally counts up only." },
      seen: count,
    };
  },
  async run({ thing }, context) {
    if (context.expectedState !== undefined)
      checkState(context, (await ask({ method: "GET", thing }, context, READ)).count);
    return ask({ method: "POST", thing }, context, WRITE);
  },
});

/** Counts things on a tally server. */
export const tallyIntegration: Integration = {
  slug: "tally",
  name: "Tally",
  description: "Counts things on a tally server.",
  category: "productivity",
  scopes: [],
  settingsForm: [
    { name: "address", label: "Address", kind: "text", help: "For example https://tally.example.org" },
    { name: "token", label: "Token", kind: "secret", help: "From the settings page of the server." },
  ],
  actions: [readCount, addOne],
  async checkSettings(settings) {
    readSettings(settings);
  },
};

function readSettings(settings: ActionContext["connection"]["settings"]) {
  const parsed = settingsSchema.safeParse(settings);
  if (parsed.success) return parsed.data;
  const setting = String(parsed.error.issues[0]?.path[0]);
  throw new ServiceError(422, "integration_misconfigured", `Tally needs another value for ${setting}.`, {
    type: "configuration",
    hint: "The owner corrects it in the dashboard: Connections, Change settings.",
    extra: { setting },
  });
}

/** Asks the server; every failure becomes a documented code, by the one mapping all apps share. */
async function ask(
  { method, thing }: { method: "GET" | "POST"; thing: string },
  { connection, signal, now }: Pick<ActionContext, "connection" | "signal" | "now">,
  action: typeof READ | typeof WRITE,
): Promise<z.output<typeof countSchema>> {
  const { address, token } = readSettings(connection.settings);
  const call = { app: "Tally", action };
  const url = new URL(`/counts/${encodeURIComponent(thing)}`, address);
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(url, { method, headers, signal, redirect: "error" }).catch((error: unknown) => {
    if (signal.aborted) throw error;
    throw createProviderError({ kind: isRefused(error) ? "unreachable" : "lost" }, call);
  });
  if (!answer.ok) {
    const retryAfterSeconds = readRetryAfter(answer.headers.get("retry-after"), now());
    throw createProviderError({ kind: "status", status: answer.status, retryAfterSeconds }, call);
  }
  const counted = countSchema.safeParse(await answer.json().catch(() => undefined));
  if (!counted.success) throw createProviderError({ kind: "garbage" }, call);
  return counted.data;
}

/** True when nothing was sent. */
function isRefused(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause && (cause.code === "ECONNREFUSED" || cause.code === "ENOTFOUND");
}
