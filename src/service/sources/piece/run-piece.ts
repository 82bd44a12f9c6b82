import { realpath } from "node:fs/promises";
import { ServiceError } from "../../service-error.ts";
import type { IntegrationSource } from "../source.ts";
import { type CallFolder, openCallFolder } from "./call-folder.ts";
import type { PieceDefinition } from "./piece-definition.ts";
import type { PieceNetwork, PieceTask } from "./piece-messages.ts";
import { type PieceAnswer, runPieceChild } from "./run-piece-child.ts";

/** An installed piece. */
export interface PieceParts {
  readonly source: Pick<IntegrationSource, "name" | "slug">;
  readonly definition: PieceDefinition;
  /** Folder the package is installed in. */
  readonly installed: string;
}

/** How a task is done. */
interface PieceWork {
  readonly signal: AbortSignal;
  /** Makes the task, once there is a folder for its files. */
  prepare(folder: CallFolder): PieceTask | Promise<PieceTask>;
  /** See `runPieceChild`; without it the piece cannot keep files. */
  keep?(folder: CallFolder, file: { file: string; name: string }): Promise<string>;
}

/**
 * Lets a piece do one task in a process and a folder of its own, and reads its answer while the folder is there. Throws
 * ServiceError when it is not installed; rejects with the signal's reason.
 */
export async function runPiece<Result>(
  { source, definition, installed }: PieceParts,
  { signal, prepare, keep }: PieceWork,
  read: (answer: PieceAnswer, folder: CallFolder) => Result,
): Promise<Result> {
  const real = await findInstalled(installed, source);
  const folder = await openCallFolder();
  try {
    const entry = `${real}/node_modules/${definition.package}`;
    const order = { entry, network: readNetwork(definition), task: await prepare(folder) };
    const place = { installed: real, folder: folder.path, signal };
    const keeping = keep === undefined ? {} : { keep: (file: { file: string; name: string }) => keep(folder, file) };
    return read(await runPieceChild(order, { ...place, ...keeping }), folder);
  } finally {
    await folder.remove();
  }
}

async function findInstalled(installed: string, { name, slug }: PieceParts["source"]): Promise<string> {
  try {
    return await realpath(installed);
  } catch (cause) {
    throw new ServiceError(422, "integration_misconfigured", `${name} is not installed on this machine.`, {
      type: "configuration",
      hint: `The owner installs it with "svc add piece … --app ${slug} --replace".`,
      cause,
    });
  }
}

/** A private network is reached where the owner named it, or anywhere when he named no place. */
export function readNetwork({ hosts, isPrivate }: PieceDefinition): PieceNetwork {
  return { hosts, reach: isPrivate && Object.keys(hosts).length === 0 ? "any" : "public" };
}
