import { z } from "zod";
import { SIDE_EFFECT_LEVELS } from "../../shared/wire/catalog.ts";
import { type CatalogEntry, levelOf, needsConfirmation } from "../catalog/catalog-entry.ts";

/** Who or what let an execution run, as the log keeps it. */
const permissionSchema = z.discriminatedUnion("by", [
  /**
   * A person in the inbox, who had edited the call before, and what they were told that it would do; without `approval` on the page
   * of the change that they undid.
   */
  z.object({
    by: z.literal("person"),
    name: z.string(),
    approval: z.string().optional(),
    editedBy: z.string().optional(),
    says: z.string().optional(),
  }),
  /** The human of the key or OAuth client, as that says itself. */
  z.object({ by: z.literal("device") }),
  /** The approval of the flow that it belongs to. */
  z.object({ by: z.literal("flow"), flow: z.string() }),
  /** A rule of the owner, with its text at that time. */
  z.object({ by: z.literal("rule"), id: z.string(), text: z.string() }),
  /** Nobody was asked: calls of this level, or of this action, need no approval. */
  z.object({ by: z.literal("level"), level: z.enum(SIDE_EFFECT_LEVELS) }),
]);
export type Permission = z.output<typeof permissionSchema>;

/**
 * Who or what lets a call run that has passed every check.
 *
 * @param said whose confirmation the call came with
 */
export function findPermission(entry: CatalogEntry, said: Permission = { by: "device" }): Permission {
  if (said.by === "person" || needsConfirmation(entry)) return said;
  const { rule, ruled, action } = entry;
  if (rule !== undefined && ruled === "allow" && action.requiresConfirmation) return permitByRule(rule);
  return { by: "level", level: levelOf(entry) };
}

/** The permission that a rule gives, with its text: equal for all that it let run. */
export function permitByRule({ id, text }: { readonly id: string; readonly text: string }): Permission {
  return { by: "rule", id, text };
}

/** Reads the column of the log; undefined where it is empty. */
export function readPermission(json: string | null): Permission | undefined {
  return json === null ? undefined : permissionSchema.parse(JSON.parse(json));
}
