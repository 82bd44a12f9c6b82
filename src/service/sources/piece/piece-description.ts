import { z } from "zod";

/** One option of a list, or one field of an action, as the piece describes it. */
export interface PieceProperty {
  readonly name: string;
  /** The piece's own word, e.g. `SHORT_TEXT`, `DROPDOWN`. */
  readonly type: string;
  readonly displayName: string;
  readonly description: string;
  readonly required: boolean;
  readonly defaultValue?: unknown;
  /** What a fixed list offers. */
  readonly options?: readonly { readonly label: string; readonly value: unknown }[] | undefined;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  /** Fields of each item of an `ARRAY`. */
  readonly properties?: readonly PieceProperty[] | undefined;
  /** Names of the fields its options depend on. */
  readonly refreshers: readonly string[];
  /** True when its options can be searched by a text. */
  readonly searches: boolean;
}

const propertySchema: z.ZodType<PieceProperty> = z.lazy(() =>
  z.object({
    name: z.string().min(1),
    type: z.string(),
    displayName: z.string(),
    description: z.string(),
    required: z.boolean(),
    defaultValue: z.unknown().optional(),
    options: z.array(z.object({ label: z.string(), value: z.unknown() })).optional(),
    min: z.number().optional(),
    max: z.number().optional(),
    properties: z.array(propertySchema).optional(),
    refreshers: z.array(z.string()),
    searches: z.boolean(),
  }),
);

/** Fields that a `DYNAMIC` field turned out to have. */
export const propertiesSchema = z.array(propertySchema);

const actionSchema = z.object({
  name: z.string().min(1),
  displayName: z.string(),
  description: z.string(),
  /** `ai`, `human` or `both`; empty when the piece does not say. */
  audience: z.string(),
  /** `READ`, `SEARCH`, `WRITE` or `DESTRUCTIVE`; empty when the piece does not say. */
  classification: z.string(),
  /** Written for agents; empty when there is none. */
  aiDescription: z.string(),
  idempotent: z.boolean(),
  properties: z.array(propertySchema),
});

/** How a piece wants to be signed in by OAuth2; addresses may name fields of its form as `{field}`. */
export const pieceOAuthSchema = z.object({
  authUrl: z.string(),
  tokenUrl: z.string(),
  scopes: z.array(z.string()),
  clientIn: z.enum(["header", "body"]),
  /** Whether its provider knows PKCE. */
  pkce: z.boolean(),
  /** Empty when the piece does not say. */
  prompt: z.string(),
  /** Further parameters of the address at which the owner signs in. */
  extra: z.record(z.string(), z.string()),
});

const authSchema = z.object({
  type: z.string(),
  oauth: pieceOAuthSchema.optional(),
  displayName: z.string(),
  description: z.string(),
  required: z.boolean(),
  properties: z.array(propertySchema),
});

/** A piece as its child process describes it. */
export const pieceDescriptionSchema = z.object({
  displayName: z.string(),
  description: z.string(),
  category: z.string(),
  /** Ways to sign in; any one of them is enough. */
  auth: z.array(authSchema),
  actions: z.array(actionSchema),
});

export type PieceDescription = z.output<typeof pieceDescriptionSchema>;
export type PieceAction = PieceDescription["actions"][number];
export type PieceOAuth = z.output<typeof pieceOAuthSchema>;
export type PieceAuth = PieceDescription["auth"][number];
