import { readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { z } from "zod";
import { spellAddress } from "../plugin/client/base-url.ts";
import { errorCode, hasCode } from "../shared/base/error-code.ts";
import { isRecord, parseJson } from "../shared/base/json.ts";
import { SvcError } from "../shared/errors.ts";
import type { Places } from "./context.ts";

const fileSchema = z.strictObject({
  baseUrl: z.url().optional(),
  mediaRoots: z.array(z.string().min(1)).optional(),
  upload: z.enum(["envelope", "ingest"]).optional(),
  validation: z.enum(["advise", "strict", "off"]).optional(),
});

/** Settings merged from file, environment and flags; later ones override earlier ones. */
export interface Settings {
  /** Normalised spelling; not checked yet. */
  readonly baseUrl: string | undefined;
  readonly apiKey: string | undefined;
  readonly mediaRoots: readonly string[];
  readonly upload: "envelope" | "ingest";
  readonly validation: "advise" | "strict" | "off";
}

/** Flags that override a setting. */
export interface SettingFlags {
  readonly baseUrl?: string | undefined;
  readonly upload?: "envelope" | "ingest" | undefined;
}

/**
 * Reads `config.json`, then `SVC_BASE_URL`, `SVC_API_KEY`, `SVC_MEDIA_ROOTS`, then flags.
 * Throws `invalid_config` naming the setting when a value cannot be used.
 */
export async function readSettings(places: Places, env: NodeJS.ProcessEnv, flags: SettingFlags): Promise<Settings> {
  const file = await readConfigFile(join(places.config, "config.json"));
  const roots = env.SVC_MEDIA_ROOTS?.split(delimiter).filter((root) => root !== "");
  const baseUrl = flags.baseUrl ?? (env.SVC_BASE_URL || undefined) ?? file.baseUrl;
  return {
    baseUrl: baseUrl === undefined ? undefined : spellAddress(baseUrl),
    apiKey: env.SVC_API_KEY || undefined,
    mediaRoots: roots ?? file.mediaRoots ?? [places.media],
    upload: flags.upload ?? file.upload ?? "envelope",
    validation: file.validation ?? "advise",
  };
}

async function readConfigFile(path: string): Promise<z.infer<typeof fileSchema>> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return {};
    throw new SvcError("invalid_config", `${path} cannot be read.`, { cause: error, hint: "Check its permissions." });
  }
  const parsed = fileSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = issue?.path.join(".") || "the file";
  throw new SvcError("invalid_config", `${path}: ${field}: ${issue?.message ?? "not valid JSON"}.`, {
    field,
    hint: "Correct the file, or delete it to use the defaults.",
  });
}

/** Reads a whole number flag; throws `invalid_config` naming the flag and its range. */
export function wholeNumber(text: string, flag: string, min: number, max: number): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isInteger(value) && value >= min && value <= max) return value;
  throw new SvcError("invalid_config", `${flag} is "${text}"; it must be a whole number from ${min} to ${max}.`, {
    field: flag,
  });
}

/** Longest wait that a flag may ask for, in seconds. */
export const MOST_SECONDS = 24 * 60 * 60;

/** Reads `--timeout`, the seconds that a call may take; no member without it, so that the default holds. */
export function readTimeout({ timeout }: { readonly timeout?: string | undefined }): { readonly timeoutMs?: number } {
  return timeout === undefined ? {} : { timeoutMs: wholeNumber(timeout, "--timeout", 1, MOST_SECONDS) * 1_000 };
}

/**
 * Reads a flag that takes a JSON object, written there, in a file (`@args.json`) or on standard input (`-`): shells of
 * Windows change quotes.
 *
 * @throws SvcError `invalid_config` naming the flag, with `example` as the hint
 */
export async function jsonObject(
  { text, flag, example }: { readonly text: string; readonly flag: string; readonly example: string },
  input: NodeJS.ReadStream,
): Promise<Record<string, unknown>> {
  const value = parseJson(await readFlagText(text, flag, input));
  if (isRecord(value)) return value;
  throw new SvcError("invalid_config", `${flag} is not a JSON object.`, {
    field: flag,
    hint: `Example: ${flag} '${example}'. Where the shell changes quotes: ${flag} @args.json, or ${flag} - for standard input.`,
  });
}

async function readFlagText(text: string, flag: string, input: NodeJS.ReadStream): Promise<string> {
  if (text !== "-" && !text.startsWith("@")) return text;
  try {
    return decodeText(text === "-" ? await buffer(input) : await readFile(text.slice(1)));
  } catch (cause) {
    const what = text === "-" ? "Standard input" : `The file ${text.slice(1)}`;
    const problem = `${what} for ${flag} cannot be read (${cause instanceof TypeError ? "it is not in UTF-8 or UTF-16" : (errorCode(cause) ?? "unknown")}).`;
    throw new SvcError("invalid_config", problem, {
      field: flag,
      hint: "Check the path, and save it in UTF-8.",
      cause,
    });
  }
}

/** UTF-8, or UTF-16 with its mark, as PowerShell writes files. */
function decodeText(bytes: Buffer): string {
  const mark = bytes.subarray(0, 2).toString("hex");
  const encoding = mark === "fffe" ? "utf-16le" : mark === "feff" ? "utf-16be" : "utf-8";
  return new TextDecoder(encoding, { fatal: true }).decode(bytes);
}
