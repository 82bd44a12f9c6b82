import { join } from "node:path";
import { createGate } from "../../files/gate.ts";
import type { ActionContext } from "../../integrations/integration.ts";
import { createAddedIntegration } from "../create-added-integration.ts";
import type { SourceKind } from "../source.ts";
import type { StoredAction } from "../source-content.ts";
import { callPiece } from "./call-piece.ts";
import { readPieceDefinition } from "./piece-definition.ts";
import { findPieceGrant, findPieceSignIn } from "./piece-grant.ts";
import { testPiece } from "./test-piece.ts";

/** Processes of one app at a time, each of about 100 MB; other calls wait. */
const MAX_CHILDREN = 4;
/** Calls under way get this long when the service stops, milliseconds. */
const GRACE_MS = 5_000;

/** Community connectors of activepieces: each call in a process of its own. */
export const pieceKind: SourceKind = {
  async open(source, ports) {
    const definition = readPieceDefinition(source.definition);
    const installed = join(ports.dataDir, ...definition.folder.split("/"));
    const parts = { source, definition, installed };
    const gate = createGate(MAX_CHILDREN);
    const stop = new AbortController();
    const underWay = new Set<Promise<unknown>>();

    /** Waits for a place among the processes, and is waited for by the end. */
    async function enter<Result>(asked: AbortSignal, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
      const signal = AbortSignal.any([asked, stop.signal]);
      const leave = await gate.enter(signal);
      const running = work(signal).finally(leave);
      underWay.add(running);
      return running.finally(() => underWay.delete(running));
    }

    const run = (action: StoredAction, args: Readonly<Record<string, unknown>>, context: ActionContext) =>
      enter(context.signal, (signal) => callPiece({ ...parts, action, args, context: { ...context, signal } }));

    const test = (settings: Readonly<Record<string, unknown>>, asked: AbortSignal) =>
      enter(asked, (signal) => testPiece(parts, settings, signal));

    return {
      integration: createAddedIntegration(source, {
        run,
        test,
        findGrant: (settings) => findPieceGrant(parts, settings),
        ...(definition.auth.oauth !== undefined && { findSignIn: (settings) => findPieceSignIn(parts, settings) }),
      }),
      async close() {
        const timer = setTimeout(() => stop.abort(), GRACE_MS);
        await Promise.allSettled(underWay);
        clearTimeout(timer);
      },
    };
  },
};
