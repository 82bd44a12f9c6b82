import { setImmediate as nextTurn } from "node:timers/promises";
import { sha256Hex } from "../../shared/base/hash.ts";
import { shortenText } from "../../shared/base/text.ts";
import { collectForms } from "../../shared/seen/collect-forms.ts";
import type { AuthoredPart, SeenSource } from "../../shared/seen/evidence.ts";
import type { Principal } from "../auth/api-keys.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import type { Connection } from "../connections/connection.ts";
import type { ServiceError } from "../service-error.ts";
import type { Digest } from "./digest-table.ts";
import { type CallFile, type KeptFile, nameFile } from "./file-texts.ts";
import type { SeenIndex } from "./seen-index.ts";
import type { SeenKind, SeenPart } from "./seen-rows.ts";

/** Most values of one result. */
const MAX_FORMS = 20_000;
const MAX_PARTS = 2000;
/** Longest work between two turns of the event loop, in milliseconds. */
const TURN_MS = 15;
/** Longest text of a source, in characters. */
const MAX_TEXT = 300;

/** A call whose app has answered. */
export interface EndedCall {
  readonly executionId: string;
  readonly principal: Principal;
  readonly entry: CatalogEntry;
  readonly connection: Connection;
  /** Final. */
  readonly args: Readonly<Record<string, unknown>>;
  /** Texts that the device found in the words of its human. */
  readonly said: readonly string[];
  /** The answer, as it is told, and its JSON; or the failure. */
  readonly output?: unknown;
  readonly json?: string | undefined;
  readonly error?: ServiceError | undefined;
  /** Files that the answer brought. */
  readonly files: readonly KeptFile[];
  /** The files of its arguments. */
  readFiles(): Promise<readonly CallFile[]>;
}

/**
 * Finds the values of a result that a key has not seen yet, by their sources.
 *
 * What a write answers repeats what it was told: only what is new in it was seen, and nothing there is the owner's for it.
 */
export async function findNewValues(
  call: EndedCall,
  { index, digest }: { readonly index: SeenIndex; readonly digest: Digest },
): Promise<SeenPart[]> {
  const isRead = call.entry.action.level === "read";
  const own = isRead && call.error === undefined ? new Set<string>() : new Set(collectForms(call.args));
  const found = collectParts(call.principal);
  let left = MAX_FORMS;
  let turnEnds = performance.now() + TURN_MS;
  for (const { source, content, forms = [] } of listParts(call).slice(0, MAX_PARTS)) {
    const kind = source.whose === "yours" ? "own" : "seen";
    if (kind === "own" && !isRead) continue;
    for (const form of [...forms, ...collectForms(content)]) {
      if (left <= 0) return found.list();
      left -= 1;
      if (own.has(form)) continue;
      const bytes = digest(form);
      if (!index.isKept(kind, bytes)) found.add(kind, source, bytes);
    }
    if (performance.now() < turnEnds) continue;
    await nextTurn();
    turnEnds = performance.now() + TURN_MS;
  }
  return found.list();
}

/** Gathers digests by kind and source, each once. */
export function collectParts(principal: EndedCall["principal"]) {
  const parts = new Map<string, { kind: SeenKind; source: SeenSource; digests: Map<string, Uint8Array> }>();
  return {
    add(kind: SeenKind, source: SeenSource, bytes: Uint8Array): void {
      const cut = shortenSource(source);
      const key = `${kind} ${JSON.stringify(cut)}`;
      const part = parts.get(key) ?? { kind, source: cut, digests: new Map<string, Uint8Array>() };
      parts.set(key, part);
      part.digests.set(Buffer.from(bytes).toString("latin1"), bytes);
    },
    list: (): SeenPart[] =>
      [...parts.values()].map(({ digests, ...part }) => ({ principal, ...part, digests: [...digests.values()] })),
  };
}

function shortenSource({ whose, app, kind, by, title, at }: SeenSource): SeenSource {
  const cut = (text: string) => shortenText(text.toWellFormed(), MAX_TEXT);
  return {
    whose,
    app,
    kind: cut(kind),
    ...(by !== undefined && { by: cut(by) }),
    ...(title !== undefined && { title: cut(title) }),
    ...(at !== undefined && { at: cut(at) }),
  };
}

/** A part with forms that do not stand in its content. */
interface NotedPart extends AuthoredPart {
  readonly forms?: readonly string[];
}

/** The parts of an answer, each with its author; texts of files that came with it belong to the part that names them. */
function listParts(call: EndedCall): readonly NotedPart[] {
  const { entry, connection, args, output, error } = call;
  const ofApp = (content: unknown) => ({ source: sourceOfApp(call), content });
  if (error !== undefined) return [ofApp([error.message, error.options.hint ?? "", ...(error.options.details ?? [])])];
  const parts = tellAuthors(() => entry.action.authored?.(output, args, { connection })) ?? [ofApp(output)];
  const files = call.files.flatMap(({ s3key, sha256, text }) => {
    const part = parts.find(({ content }) => JSON.stringify(content)?.includes(s3key)) ?? parts[0];
    const source = part?.source ?? sourceOfApp(call);
    return { source, content: text ?? "", forms: [nameFile(sha256)] };
  });
  return [...files, ...parts];
}

function sourceOfApp({ entry: { integration } }: EndedCall): SeenSource {
  return { whose: "somebody", app: integration.slug, kind: "answer", by: integration.name };
}

/** An app that cannot tell is nobody's word for whose it is. */
function tellAuthors(ask: () => readonly AuthoredPart[] | undefined): readonly AuthoredPart[] | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}

/** Equal for answers in which equal values were seen. */
export function hashAnswer({ principal, entry, connection, args, json, error, files }: EndedCall): string {
  const known = [principal.apiKeyId, entry.toolName, connection.id, args, json ?? error?.message];
  return sha256Hex(JSON.stringify([...known, ...files.map(({ sha256 }) => sha256)]));
}
