import { z } from "zod";
import { pieceDescriptionSchema } from "./piece-description.ts";

/** Where a piece may send requests. */
export interface PieceNetwork {
  /** Hosts that are reached at another origin. */
  readonly hosts: Readonly<Record<string, string>>;
  /** `none` refuses everything, `public` all but the public internet and `hosts`, `any` nothing. */
  readonly reach: "none" | "public" | "any";
}

/** What a child is told to do; sent once, over its channel, because it holds the secret. */
export type PieceTask =
  | { readonly do: "describe" }
  /** Asks the piece whether it can sign in; it may ask its provider. */
  | {
      readonly do: "validate";
      /** Type of the way in which it signs in: a piece may offer several. */
      readonly way: string;
      /** As for `run`. */
      readonly auth: unknown;
    }
  | {
      readonly do: "run" | "options";
      readonly action: string;
      /** For `options`: the field whose values are asked for. */
      readonly property: string;
      /** What the piece signs in with; null when it needs nothing. */
      readonly auth: unknown;
      /** Arguments; a file is `{ file, name, mimetype }`, where `file` is a name in the working folder. */
      readonly args: Readonly<Record<string, unknown>>;
    };

/** A task and what it needs. */
export interface PieceOrder {
  /** Path of the installed package. */
  readonly entry: string;
  readonly network: PieceNetwork;
  readonly task: PieceTask;
}

/** Answer to a `keep`. */
export interface PieceKept {
  readonly file: string;
  /** Text that stands for the file. */
  readonly kept: string;
}

const failureSchema = z.object({
  type: z.literal("failed"),
  kind: z.enum([
    /** The provider answered with a status, or named a refusal in its answer. */
    "status",
    "garbage",
    "unreachable",
    "lost",
    /** The piece refused by itself. */
    "own",
    /** It wanted something that only a full flow engine has, such as waiting for a human. */
    "unsupported",
    /** It wanted to reach an address it may not reach. */
    "blocked",
    /** It could not be loaded, or does not have this action. */
    "broken",
  ]),
  /** The piece's own words. */
  words: z.string(),
  status: z.int().optional(),
  retryAfter: z.string().optional(),
  /** True when an earlier request of the same call may have changed something. */
  mayHaveActed: z.boolean(),
});

/** How a task failed. */
export type PieceFailure = z.output<typeof failureSchema>;

/** What a child says. Its piece can say anything too, so all of it is checked. */
export const pieceMessageSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("described"), piece: pieceDescriptionSchema }),
  /** JSON text. */
  z.object({ type: z.literal("done"), json: z.string() }),
  /** Wants a file of its working folder kept by the service. */
  z.object({ type: z.literal("keep"), file: z.string().regex(/^out-\d{1,4}$/), name: z.string() }),
  failureSchema,
]);
export type PieceMessage = z.output<typeof pieceMessageSchema>;
