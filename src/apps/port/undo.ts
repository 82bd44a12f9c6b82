import { ServiceError } from "../../service/service-error.ts";
import type { RaisedLevel } from "../../shared/wire/call-level.ts";
import type { PreviewDraft } from "./preview.ts";

/** A write that was kept. */
export interface KeptWrite<Intent = unknown, After = unknown> {
  /** What it was about to do, with the names and ids of what it makes, which are chosen before, and what was there before. */
  readonly intent: Intent;
  /** How it left things; undefined where its answer was lost. */
  readonly after: After | undefined;
}

/** Whose call it is. */
export interface Caller {
  /** Of the key or OAuth client. */
  readonly id: string;
  /** True for one that may see its own calls only. */
  readonly isLimited: boolean;
}

/** How a write can be taken back. */
export interface UndoPlan {
  /** What taking it back would do, and the state that it depends on. */
  readonly draft: PreviewDraft;
  /**
   * Takes it back, under the back end's own condition that nothing changed since the plan was made. Returns what is said of it, as JSON;
   * throws ServiceError.
   */
  act(): Promise<Readonly<Record<string, unknown>>>;
  /** Where taking back is more than a write: where it takes away or replaces something. */
  readonly raised?: RaisedLevel | undefined;
}

/** What a look found about a write whose answer was lost. */
export type Verdict =
  | {
      readonly verdict: "happened";
      /** What `run` would have returned, as far as it can be told. */
      readonly output: Readonly<Record<string, unknown>>;
      /** What `run` would have left. */
      readonly after?: unknown;
    }
  /** Only where what is there shows it. */
  | { readonly verdict: "did_not" }
  /** `why`: a sentence for the owner. */
  | { readonly verdict: "cannot_know"; readonly why: string };

/** The verdict about a write of which nobody can tell whether it took effect; `why` begins like a sentence or with a name. */
export function cannotKnow(why: string): Extract<Verdict, { verdict: "cannot_know" }> {
  return { verdict: "cannot_know", why: `${why.slice(0, 1).toUpperCase()}${why.slice(1)}` };
}

/** 409 `undo_unavailable`: `why` is a sentence, such as `"Plan" was changed since.` Nothing was done. */
export function refuseUndo(
  why: string,
  hint = "Tell the user; a human can still change it back by hand.",
): ServiceError {
  return new ServiceError(409, "undo_unavailable", `This cannot be undone: ${why}`, { type: "provider", hint });
}
