import { resolve } from "node:path";
import { isSvcError, SvcError } from "../../errors.ts";
import { holdPieces } from "../../service/sources/piece/piece-folders.ts";
import { readPieceName } from "../../service/sources/piece/piece-name.ts";
import { type PreparedPiece, preparePiece } from "../../service/sources/piece/prepare-piece.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { type AddFlags, addSource, checkPlace, findPlace } from "./add-source.ts";
import { readGivenSettings } from "./given-settings.ts";

interface PieceFlags extends AddFlags {
  readonly app?: string;
  readonly host?: readonly string[];
  readonly private?: true;
}

/** `svc add piece`: installs a community connector and makes actions of what it offers to agents. */
export async function addPiece(context: CliContext, spec: string, flags: PieceFlags): Promise<number> {
  const { terminal, env, signal } = context;
  const { name: piece, version } = readSpec(spec);
  const slug = flags.app ?? readPieceName(piece).piece;
  const place = findPlace(context, flags);
  await checkPlace(context, slug, flags).catch((error: unknown) => {
    throw flags.app === undefined ? adviseName(error, piece) : error;
  });
  const dataDir = resolve(place.dataDir);
  // Until it is stored, nothing but this says that it is wanted.
  const release = holdPieces(dataDir);
  try {
    terminal.progress("  installing the piece and asking what it offers …");
    const prepared = await preparePiece({
      piece,
      slug,
      version,
      name: flags.name,
      hosts: readHosts(flags.host ?? []),
      isPrivate: flags.private === true,
      dataDir,
      env,
      signal,
    }).finally(() => terminal.endProgress());
    return await store(context, prepared, flags);
  } finally {
    release();
  }
}

async function store(
  context: CliContext,
  { source, notes, check, discard }: PreparedPiece,
  flags: PieceFlags,
): Promise<number> {
  const given = readGivenSettings(source.content.settingsForm, source, context.env);
  const connection = given.connection === undefined ? {} : { connection: given.connection };
  let isAdded = false;
  try {
    if (given.connection !== undefined) await check(given.connection.settings);
    isAdded =
      (await addSource(context, { source, notes: [...notes, ...given.notes], ...connection }, flags)) === EXIT.ok;
    return isAdded ? EXIT.ok : EXIT.notApproved;
  } finally {
    if (!isAdded) await discard();
  }
}

/** The short name was made of the piece's: the way out is to give one. */
function adviseName(error: unknown, piece: string): unknown {
  if (!isSvcError(error) || error.field !== "slug") return error;
  const hint = `Give the app a short name of its own: svc add piece ${piece} --app NAME. It has 1 to 31 small letters, digits and hyphens.`;
  return new SvcError("invalid_config", error.message, { field: "slug", hint });
}

/** `name@version`, where a name may begin with `@`. */
function readSpec(spec: string): { name: string; version: string | undefined } {
  const at = spec.indexOf("@", 1);
  return at < 0 ? { name: spec, version: undefined } : { name: spec.slice(0, at), version: spec.slice(at + 1) };
}

function readHosts(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((text) => {
      const [host = "", ...address] = text.split("=");
      if (host !== "" && address.length > 0) return [host, address.join("=")] as const;
      throw new SvcError("invalid_config", `"${text}" does not name a host and its address.`, {
        field: "--host",
        hint: "Example: --host api.example.com=https://example.internal:8443 --private",
      });
    }),
  );
}
