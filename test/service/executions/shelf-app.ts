import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { checkState, defineAction, type Integration, type PreviewDraft, ServiceError } from "../../../src/service.ts";

/** An app of one box, whose content others can change, with an action that says what it will do. */
export interface Shelf {
  readonly integration: Integration;
  /** What is in the box; undefined: there is no box. */
  content: string | undefined;
  /** How the look at the box ends; default: it is seen. */
  look: "sees" | "fails" | "hangs";
  looked: number;
  /** Called by the run before it reads. */
  beforeRun: () => void;
}

/** Creates the app `shelf` with the tool `shelf_fill`. */
export function createShelf(): Shelf {
  const read = () => {
    if (shelf.content !== undefined) return shelf.content;
    throw new ServiceError(404, "not_found", "There is no box.", { type: "provider" });
  };
  const fill = defineAction({
    id: "fill",
    title: "Fill the box",
    description: "Puts something into the box, in place of what is there.",
    level: "write",
    requiresConfirmation: true,
    idempotent: false,
    scopes: [],
    arguments: z.strictObject({ with: z.string() }),
    async preview({ with: wanted }, { signal }): Promise<PreviewDraft> {
      shelf.looked += 1;
      if (shelf.look === "fails") throw new ServiceError(503, "provider_unavailable", "The shelf is closed.");
      if (shelf.look === "hangs") await sleep(60_000, undefined, { signal });
      const before = read();
      return {
        summary: `Put ${wanted} into the box, in place of ${before}`,
        objects: [{ kind: "box", name: "The box", details: [] }],
        changes: [{ field: "Content", before, after: wanted }],
        undo: { possible: false, why: "Nothing is kept." },
        seen: before,
      };
    },
    async run({ with: wanted }, context) {
      shelf.beforeRun();
      checkState(context, read());
      shelf.content = wanted;
      return { filled: wanted };
    },
  });
  const shelf: Shelf = {
    content: "apples",
    look: "sees",
    looked: 0,
    beforeRun: () => {},
    integration: {
      slug: "shelf",
      name: "Shelf",
      description: "A box.",
      category: "test",
      scopes: [],
      actions: [fill],
      checkSettings: async () => {},
    },
  };
  return shelf;
}
