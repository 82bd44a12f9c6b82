import { z } from "zod";
import { ServiceError } from "../../service-error.ts";
import type { IntegrationSource } from "../source.ts";
import { pieceOAuthSchema } from "./piece-description.ts";

const authSchema = z.object({
  /** The piece's own word: `NONE`, `SECRET_TEXT`, `BASIC_AUTH`, `CUSTOM_AUTH` or `OAUTH2`. */
  type: z.enum(["NONE", "SECRET_TEXT", "BASIC_AUTH", "CUSTOM_AUTH", "OAUTH2"]),
  /** Settings of the connection, and what the piece calls each. */
  fields: z.array(z.object({ setting: z.string(), name: z.string(), type: z.string() })),
  /** For `OAUTH2`; missing in what earlier versions stored. */
  oauth: pieceOAuthSchema.optional(),
});

const definitionSchema = z.object({
  /** Name on npm. */
  package: z.string().min(1),
  version: z.string().min(1),
  /** What npm checked the package against, e.g. `sha512-…`. */
  integrity: z.string(),
  /** Where it is installed, below the data folder; `/` between its parts. */
  folder: z.string().regex(/^pieces(?:\/[A-Za-z0-9][\w.+-]*){2}$/),
  auth: authSchema,
  /** Hosts that are reached at another address, as `http(s)://host:port`. */
  hosts: z.record(z.string(), z.url({ protocol: /^https?$/ })),
  /**
   * True when the owner said that the piece may reach a private network: the addresses in `hosts`, or any when there
   * are none.
   */
  isPrivate: z.boolean(),
});

/** Which piece it is and how it reaches its provider. */
export type PieceDefinition = z.output<typeof definitionSchema>;
export type PieceAuthPlan = z.output<typeof authSchema>;

/** What `StoredAction.call` holds for this kind. */
export const pieceCallSchema = z.discriminatedUnion("do", [
  z.object({ do: z.literal("run"), action: z.string() }),
  /** Asks which values a field takes. */
  z.object({ do: z.literal("options"), action: z.string(), property: z.string() }),
]);
export type PieceCall = z.output<typeof pieceCallSchema>;

/** @throws ServiceError 422 `integration_misconfigured`. */
export function readPieceDefinition(stored: unknown): PieceDefinition {
  const parsed = definitionSchema.safeParse(stored);
  if (parsed.success) return parsed.data;
  throw new ServiceError(422, "integration_misconfigured", "What is stored about this piece cannot be read.", {
    hint: 'Add it again with "svc add piece".',
    cause: parsed.error,
  });
}

/** Folders below the data folder that apps made of pieces are installed in. Throws like {@link readPieceDefinition}. */
export function listPieceFolders(sources: readonly Pick<IntegrationSource, "kind" | "definition">[]): string[] {
  return sources.filter(({ kind }) => kind === "piece").map(({ definition }) => readPieceDefinition(definition).folder);
}
