import { z } from "zod";
import {
  defineAction,
  type Integration,
  type PreviewDraft,
  refuseUndo,
  ServiceError,
} from "../../../../src/service.ts";

/** An app of one box, which others can fill, too; it may lose its answers. */
export interface Box {
  readonly integration: Integration;
  content: string;
  /** How the next fill ends: after the act or before it the answer is lost; `slow`: it acts after its time limit. */
  next: "answers" | "loses_after" | "loses_before" | "slow";
  /** True where a look cannot tell what happened. */
  isDark: boolean;
  /** Called before a fill or an undo acts. */
  beforeAct: () => void;
  fills: number;
}

const intentSchema = z.object({ before: z.string(), after: z.string() });

/** Creates the app `box` with the tool `box_fill`, which can be undone and settled, and `box_look`, which reads. */
export function createBox(slowMs = 0): Box {
  const fill = defineAction({
    id: "fill",
    title: "Fill the box",
    description: "Puts something into the box, in place of what is there.",
    level: "write",
    requiresConfirmation: true,
    idempotent: false,
    scopes: [],
    arguments: z.strictObject({ with: z.string() }),
    async preview({ with: wanted }): Promise<PreviewDraft> {
      const changes = [{ field: "Content", before: box.content, after: wanted }];
      return { summary: `Put ${wanted} into the box`, changes, undo: { possible: true }, seen: box.content };
    },
    async run({ with: wanted }, context) {
      await context.keep?.({ before: box.content, after: wanted });
      const { next } = box;
      box.next = "answers";
      if (next === "loses_before") throw lost();
      if (next === "slow") await new Promise((resolve) => setTimeout(resolve, slowMs));
      box.content = wanted;
      box.fills += 1;
      if (next === "loses_after") throw lost();
      context.leave?.(wanted);
      return { filled: wanted };
    },
    async undo({ intent, after }) {
      const { before } = intentSchema.parse(intent);
      if (box.content !== after) throw refuseUndo("the box was filled by somebody else.");
      const seen = box.content;
      const changes = [{ field: "Content", before: seen, after: before }];
      return {
        draft: { summary: `Put ${before} back into the box`, changes, undo: { possible: false }, seen },
        async act() {
          box.beforeAct();
          if (box.content !== seen) throw new ServiceError(409, "conflict", "The box was changed.");
          box.content = before;
          return { content: before };
        },
      };
    },
    async settle({ intent }) {
      const { before, after } = intentSchema.parse(intent);
      if (box.isDark) return { verdict: "cannot_know", why: "The box is closed." };
      if (box.content === after) return { verdict: "happened", output: { filled: after }, after };
      return box.content === before ? { verdict: "did_not" } : { verdict: "cannot_know", why: "It was filled since." };
    },
  });
  const look = defineAction({
    id: "look",
    title: "Look into the box",
    description: "Says what is in the box.",
    level: "read",
    requiresConfirmation: false,
    idempotent: true,
    scopes: [],
    arguments: z.strictObject({}),
    run: async () => ({ content: box.content }),
  });
  const box: Box = {
    content: "apples",
    next: "answers",
    isDark: false,
    beforeAct: () => {},
    fills: 0,
    integration: {
      slug: "box",
      name: "Box",
      description: "A box.",
      category: "test",
      scopes: [],
      actions: [fill, look],
      checkSettings: async () => {},
    },
  };
  return box;
}

function lost(): ServiceError {
  return new ServiceError(500, "outcome_unknown", "The answer was lost.");
}
