import { type ZodType, z } from "zod";
import { SvcError } from "../shared/errors.ts";
import { MAX_DELAY_SECONDS } from "../shared/wire/constants.ts";
import type { ServiceOptions } from "./service-options.ts";
import { isPostgresUrl } from "./store/open-postgres.ts";

/** Shortest secret: 32 random letters hold more than 128 bits. */
const MIN_SECRET = 32;
const MIN_HEARTBEAT_MS = 10;
const MAX_HEARTBEAT_MS = 60 * 60 * 1000;
const MAX_PROVIDER_TIMEOUT_MS = 24 * 60 * 60 * 1000;

/** What an option may be: as a schema, in words, and what to do when it is not. */
interface Rule {
  readonly schema: ZodType;
  readonly allowed: string;
  readonly hint?: string;
  /** True where a wrong value may be, or hold, what nobody else is to see. */
  readonly isPrivate?: boolean;
}

const callable = z.custom((value) => typeof value === "function");
const record = z.looseObject({});
const whole = (min: number, max: number): Rule => ({
  schema: z.int().min(min).max(max),
  allowed: `a whole number from ${min} to ${max}`,
});
const secret = {
  schema: z.string().min(MIN_SECRET),
  allowed: `a text of at least ${MIN_SECRET} characters`,
  hint: "Make one with: openssl rand -base64 32",
  isPrivate: true,
} satisfies Rule;

const RULES: Readonly<Record<keyof ServiceOptions, Rule>> = {
  dataDir: { schema: z.string().regex(/\S/), allowed: "the path of the data folder", hint: "Give a path." },
  database: {
    schema: z.string().refine((url) => isPostgresUrl(url) && URL.canParse(url)),
    allowed: "the address of a PostgreSQL database",
    hint: "Use the form postgres://user@host:5432/name, or leave it out to use a file in the data folder.",
    isPrivate: true,
  },
  files: {
    schema: z.union([
      z.string(),
      z.looseObject({
        bucket: z.string(),
        region: z.string(),
        accessKeyId: z.string(),
        secretAccessKey: z.string(),
        prefix: z.string().optional(),
        endpoint: z.string().optional(),
      }),
    ]),
    allowed: "a folder, or a bucket with its region and key",
    isPrivate: true,
  },
  heartbeatMs: whole(MIN_HEARTBEAT_MS, MAX_HEARTBEAT_MS),
  port: { ...whole(0, 65_535), hint: "Use a whole number from 0 to 65535; 0 takes a free one." },
  host: { schema: z.string().regex(/\S/), allowed: "an address to listen on" },
  publicUrl: {
    schema: z.string().refine(isOrigin),
    allowed: "an origin without a path",
    hint: "Give publicUrl (--public-url) the form https://svc.example.org or http://host:port.",
    isPrivate: true,
  },
  trustProxy: { schema: z.array(z.string()), allowed: "a list of IP addresses or blocks of them" },
  fileEnvelopes: { schema: z.boolean(), allowed: "true or false" },
  allowHosts: { schema: z.array(z.string()), allowed: "a list of hosts, each HOST:PORT" },
  ingestSecret: { ...secret, schema: secret.schema.nullable(), allowed: `${secret.allowed}, or null` },
  secretKey: secret,
  usageLimit: { schema: z.int().min(0), allowed: "a whole number of executions, 0 or more" },
  retentionDays: {
    schema: z
      .number()
      .refine((days) => Number.isInteger(days) && days >= 0)
      .nullable(),
    allowed: "a whole number of days, or null",
    hint: "Use a whole number; 0 or null keeps for ever.",
  },
  sendDelay: {
    schema: z.int().min(0).max(MAX_DELAY_SECONDS),
    allowed: `a whole number of seconds, 0 to ${MAX_DELAY_SECONDS}`,
  },
  undoMegabytes: { schema: z.int().min(0), allowed: "a whole number of megabytes, 0 or more" },
  providerTimeoutMs: whole(1, MAX_PROVIDER_TIMEOUT_MS),
  flowApprovals: { schema: z.enum(["api", "dashboard"]), allowed: '"api" or "dashboard"' },
  approvals: { schema: z.enum(["device", "owner"]), allowed: '"device" or "owner"' },
  notify: {
    schema: z.array(z.union([z.string(), z.strictObject({ to: z.string(), secret: z.string().optional() })])),
    allowed: "a list of targets, each a text or an object with to and secret",
    isPrivate: true,
  },
  notifyArguments: { schema: z.boolean(), allowed: "true or false" },
  metricsToken: {
    ...secret,
    schema: secret.schema.regex(/^[!-~]+$/),
    allowed: `${secret.allowed}, without spaces`,
  },
  accessLog: { schema: z.boolean(), allowed: "true or false" },
  openTelemetry: {
    schema: z.looseObject({ trace: record, context: record, propagation: record }),
    allowed: "the module @opentelemetry/api",
  },
  integrations: {
    schema: z.array(z.looseObject({ slug: z.string(), actions: z.array(record), checkSettings: callable })),
    allowed: "a list of integrations",
  },
  now: { schema: callable, allowed: "a function" },
  elapsed: { schema: callable, allowed: "a function" },
  log: { schema: callable, allowed: "a function" },
};

/**
 * Refuses options that are none, and values that an option cannot have; what is undefined has its default. Callers
 * without types are told at the start what would show much later, or never: a misspelt restriction restricts nothing.
 *
 * @throws SvcError `invalid_config` naming the option
 */
export function checkOptionRules(options: ServiceOptions): void {
  const given: unknown = options;
  if (typeof given !== "object" || given === null) throw refuse("dataDir", RULES.dataDir, undefined);
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(RULES, name));
  if (unknown !== undefined) {
    throw new SvcError("invalid_config", `The service has no option ${JSON.stringify(unknown.slice(0, 40))}.`, {
      field: unknown,
      hint: `Use one of: ${Object.keys(RULES).join(", ")}.`,
    });
  }
  for (const [name, rule] of Object.entries(RULES)) {
    const value: unknown = Reflect.get(given, name);
    if (value === undefined && name !== "dataDir") continue;
    if (!rule.schema.safeParse(value).success) throw refuse(name, rule, value);
  }
}

function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) return false;
  return url.pathname === "/" && url.search === "" && url.username === "";
}

function refuse(field: string, { allowed, hint, isPrivate = false }: Rule, value: unknown): SvcError {
  const isShown = !isPrivate && (typeof value === "number" || typeof value === "string");
  const shown = isShown ? `, and not ${typeof value === "number" ? value : JSON.stringify(value.slice(0, 40))}` : "";
  return new SvcError("invalid_config", `The option ${field} must be ${allowed}${shown}.`, {
    field,
    hint: hint ?? `Correct ${field}, or leave it out to use the default.`,
  });
}
