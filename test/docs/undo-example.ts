import { readFile, writeFile } from "node:fs/promises";
import { z } from "zod";
import {
  type ActionContext,
  changeText,
  checkState,
  defineAction,
  type Integration,
  refuseChanged,
  refuseUndo,
} from "../../src/service.ts";

const keptSchema = z.object({ before: z.string(), after: z.string() });

const read = ({ connection }: Pick<ActionContext, "connection">) => readFile(String(connection.settings.file), "utf8");

/** Writes `after` if the sign still says `before`. */
async function change(context: Pick<ActionContext, "connection">, before: string, after: string) {
  if ((await read(context)) !== before) throw refuseChanged();
  await writeFile(String(context.connection.settings.file), after);
}

const writeSign = defineAction({
  id: "write",
  title: "Write on the sign",
  description: "Puts a text on the sign in the hall, in place of the one that is there.",
  level: "write",
  requiresConfirmation: true,
  idempotent: true,
  scopes: [],
  arguments: z.strictObject({ text: z.string().max(1000) }),
  async preview({ text }, context) {
    const before = await read(context);
    const changes = changeText("Text", before, text);
    return { summary: "Write on the sign in the hall", changes, undo: { possible: true }, seen: before };
  },
  async run({ text }, context) {
    const before = await read(context);
    checkState(context, before);
    await context.keep?.({ before, after: text });
    await change(context, before, text);
    context.leave?.({});
    return { written: text };
  },
  async undo({ intent }, context) {
    const { before, after } = keptSchema.parse(intent);
    const seen = await read(context);
    if (seen !== after) throw refuseUndo("somebody wrote on the sign since.");
    return {
      draft: {
        summary: "Put the old text back on the sign in the hall",
        changes: changeText("Text", seen, before),
        undo: { possible: false },
        seen,
      },
      async act() {
        await change(context, seen, before);
        return { written: before };
      },
    };
  },
  async settle({ intent }, context) {
    const { before, after } = keptSchema.parse(intent);
    const seen = await read(context);
    if (seen === after) return { verdict: "happened", output: { written: after }, after: {} };
    if (seen === before) return { verdict: "did_not" };
    return { verdict: "cannot_know", why: "Somebody wrote on the sign since." };
  },
});

/** The sign in the hall, a text file. */
export const signIntegration: Integration = {
  slug: "sign",
  name: "Sign",
  description: "The sign in the hall.",
  category: "productivity",
  scopes: [],
  settingsForm: [{ name: "file", label: "File", kind: "text" }],
  actions: [writeSign],
  async checkSettings() {},
};
