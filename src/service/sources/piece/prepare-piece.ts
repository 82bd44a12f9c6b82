import { realpath } from "node:fs/promises";
import { SvcError } from "../../../errors.ts";
import { isPublicHost } from "../../fetch/address-rules.ts";
import { ServiceError } from "../../service-error.ts";
import type { NewSource } from "../source-store.ts";
import { openCallFolder } from "./call-folder.ts";
import { convertPiece } from "./convert-piece.ts";
import { type InstalledPiece, type InstallOrder, installPiece, uninstallPiece } from "./install-piece.ts";
import type { PieceDefinition } from "./piece-definition.ts";
import type { PieceDescription } from "./piece-description.ts";
import { findPieceGrant } from "./piece-grant.ts";
import { readPieceName } from "./piece-name.ts";
import { planAuth } from "./plan-auth.ts";
import { runPieceChild } from "./run-piece-child.ts";
import { testPiece } from "./test-piece.ts";

/** What the owner says about a piece. */
export interface PiecePlace extends Omit<InstallOrder, "package"> {
  /** `notion` stands for `@activepieces/piece-notion`; a name with a scope stands for itself. */
  readonly piece: string;
  /** What people call it; default: the piece's own name. */
  readonly name: string | undefined;
  /** Hosts that are reached at another address: origins by host. */
  readonly hosts: Readonly<Record<string, string>>;
  readonly isPrivate: boolean;
}

/** A piece that is installed and described. */
export interface PreparedPiece {
  readonly source: NewSource;
  /** One sentence for each thing the owner should know. */
  readonly notes: readonly string[];
  /**
   * Lets the piece check the settings of a first connection.
   *
   * @throws SvcError `invalid_config` in the piece's words.
   */
  check(settings: Readonly<Record<string, unknown>>): Promise<void>;
  /** Takes away what was installed, when the owner does not want it. */
  discard(): Promise<void>;
}

const DESCRIBE_MS = 30_000;
const CHECK_MS = 10_000;

/**
 * Installs a piece and asks it, in a process of its own, what it offers.
 *
 * @throws SvcError `invalid_config` naming the field; `unreachable` when npm's registry is out of reach.
 */
export async function preparePiece(place: PiecePlace): Promise<PreparedPiece> {
  const { slug, isPrivate } = place;
  const { package: name, piece } = readPieceName(place.piece);
  const hosts = readHosts(place.hosts, isPrivate);
  checkVersion(place.version);
  const installed = await installPiece({ ...place, package: name });
  const discard = async () => {
    if (installed.isNew) await uninstallPiece(installed);
  };
  try {
    const described = await describeInstalled(installed, name, place.signal);
    const title = place.name ?? (described.displayName || piece);
    const { content, notes } = convertPiece(described, { slug, name: title, piece });
    if (content.actions.length === 0)
      throw invalid(`${title} offers nothing to agents.`, "Choose another piece.", "piece");
    const { plan, form, notes: signIn } = planAuth(described.auth);
    const { version, integrity, folder } = installed;
    const definition: PieceDefinition = { package: name, version, integrity, folder, auth: plan, hosts, isPrivate };
    const source: NewSource = {
      slug,
      kind: "piece",
      name: title,
      definition,
      content: { ...content, settingsForm: form },
    };
    const check = async (settings: Readonly<Record<string, unknown>>) => {
      const signal = AbortSignal.any([place.signal, AbortSignal.timeout(CHECK_MS)]);
      const parts = { source, definition, installed: installed.path };
      try {
        // A refresh token may be good for one use only: the service uses it, which can keep the next one.
        if (findPieceGrant(parts, settings) === undefined) await testPiece(parts, settings, signal);
      } catch (error) {
        throw place.signal.aborted ? error : refuseSettings(error, title);
      }
    };
    return { source, notes: [...describeOrigin(definition), ...signIn, ...notes], check, discard };
  } catch (error) {
    await discard();
    throw error;
  }
}

/** A version, tag or range: npm would also take addresses and folders. */
function checkVersion(version: string | undefined): void {
  if (version === undefined || /^[\w.^~<>=*+ -]{1,64}$/.test(version)) return;
  throw invalid(`"${version}" cannot be a version.`, "Example: notion@0.7.3.", "piece");
}

async function describeInstalled(
  { path }: InstalledPiece,
  name: string,
  ended: AbortSignal,
): Promise<PieceDescription> {
  const installed = await realpath(path);
  const folder = await openCallFolder();
  const limit = AbortSignal.timeout(DESCRIBE_MS);
  try {
    const order = {
      entry: `${installed}/node_modules/${name}`,
      network: { hosts: {}, reach: "none" },
      task: { do: "describe" },
    } as const;
    const place = { installed, folder: folder.path, signal: AbortSignal.any([ended, limit]) };
    const answer = await runPieceChild(order, place);
    if (answer.type === "described") return answer.piece;
    throw unreadable(name, "words" in answer ? answer.words : "");
  } catch (error) {
    if (limit.aborted && !ended.aborted) throw unreadable(name, "It took too long.");
    throw error;
  } finally {
    await folder.remove();
  }
}

function unreadable(name: string, words: string): SvcError {
  const hint = "It may be made for another version of its framework: try another version, as in notion@0.7.3.";
  return invalid(`${name} cannot be used: ${words.slice(0, 300)}`, hint, "piece");
}

function refuseSettings(error: unknown, title: string): SvcError {
  const why = error instanceof ServiceError ? error.message : `${title} gave no answer in time.`;
  return invalid(why, "Nothing was added. Correct what you gave in the environment.", "settings");
}

function describeOrigin({ package: name, version, integrity, hosts, isPrivate }: PieceDefinition): string[] {
  const moved = Object.entries(hosts).map(([host, origin]) => `Calls to ${host} go to ${origin}.`);
  const open = isPrivate && moved.length === 0 ? ["It may reach every address of your own network."] : [];
  return [
    `${name} ${version}, ${integrity}: code of other people; it runs in a process of its own, with its own secret only.`,
    ...moved,
    ...open,
  ];
}

function readHosts(given: PiecePlace["hosts"], isPrivate: boolean): Record<string, string> {
  return Object.fromEntries(
    Object.entries(given).map(([host, address]) => {
      const url = URL.parse(address);
      if (!/^[\w.-]+$/.test(host) || url === null || !["http:", "https:"].includes(url.protocol)) {
        throw invalid(`"${host}=${address}" does not name a host and its address.`, HOST_EXAMPLE, "--host");
      }
      if (url.username || url.password || url.pathname !== "/" || url.search || url.hash) {
        throw invalid(`The address of ${host} is to be an origin alone.`, HOST_EXAMPLE, "--host");
      }
      if (!isPrivate && (url.protocol === "http:" || !isPublicHost(url.hostname))) {
        const hint = "If you mean a server of your own network, add --private.";
        throw invalid(`${url.origin} is not a public address with encryption.`, hint, "--host");
      }
      return [host.toLowerCase(), url.origin] as const;
    }),
  );
}

const HOST_EXAMPLE = "Example: --host api.example.com=https://example.internal:8443 --private";

function invalid(message: string, hint: string, field: string): SvcError {
  return new SvcError("invalid_config", message, { field, hint });
}
