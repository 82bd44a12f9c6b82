import { z } from "zod";
import { createKeeps } from "../port/define-action.ts";
import type { ActionContext } from "../port/integration.ts";
import { refuseUndo, type UndoPlan, type Verdict } from "../port/undo.ts";
import { describePlace, knowAgain, knownMessageSchema, quoteSubject, type Stage, settleStages } from "./kept-mail.ts";
import {
  type ChangeTerms,
  isMarked,
  type KnownMessage,
  MAIL_MARKS,
  type MailBox,
  type MailMark,
  type MailPlace,
  type MessageHead,
} from "./mail-box.ts";
import { WORDS } from "./preview-change.ts";
import { previewUnmark } from "./preview-undo.ts";
import { raiseChange } from "./raised-changes.ts";

/** `messages`: all that were named, also those that were marked so already. */
const intentSchema = z.object({ as: z.enum(MAIL_MARKS), messages: z.array(knownMessageSchema) });

const OPPOSITE: Readonly<Record<MailMark, MailMark>> = {
  read: "unread",
  unread: "read",
  flagged: "unflagged",
  unflagged: "flagged",
};

/** Keeps the messages that marking changes; keeps nothing where it changes none. Undefined where nobody keeps it. */
export function keepMarks({ keep }: ActionContext, heads: readonly MessageHead[], as: MailMark): ChangeTerms["before"] {
  if (keep === undefined) return undefined;
  return async (held) => {
    if (held.some((place) => !isMarked(place, as))) await keep({ as, messages: knowAgain(heads, held) });
  };
}

interface TracedMark {
  readonly message: KnownMessage;
  readonly now: MailPlace | undefined;
  readonly subject: string;
  readonly stage: Stage;
}

/** The messages that had to be marked, as they are now. */
async function trace(box: MailBox, { as, messages: all }: z.output<typeof intentSchema>): Promise<TracedMark[]> {
  const messages = all.filter(({ place }) => !isMarked(place, as));
  const traced = await box.trace(messages);
  return messages.map((message, index) => {
    const now = traced[index]?.here;
    const stage: Stage =
      now?.marks === box.foresee(message.place, as) ? "done" : now?.marks === message.place.marks ? "undone" : "other";
    return { message, now, subject: message.subject, stage };
  });
}

/** Takes the mark back from those that got it, if nothing else about them is another by now. */
async function planUnmark(box: MailBox, intent: z.output<typeof intentSchema>): Promise<UndoPlan> {
  const places = (await trace(box, intent)).map(({ message, now, stage }) => {
    if (now === undefined) throw refuseUndo(`${quoteSubject(message)} was moved or removed since.`);
    if (stage !== "done") throw refuseUndo(`${quoteSubject(message)} was changed since.`);
    return now;
  });
  const heads = [...(await box.findHeads(places.map(({ id }) => id))).values()];
  const back = OPPOSITE[intent.as];
  return {
    draft: previewUnmark(heads, back),
    raised: raiseChange({ count: places.length, isPutAway: false }),
    async act() {
      const marked = await box.mark(places, back, { isExact: true, before: async () => {} });
      return { messages: marked.map(describePlace) };
    },
  };
}

async function settleMarks(box: MailBox, intent: z.output<typeof intentSchema>): Promise<Verdict> {
  const traced = await trace(box, intent);
  const found = settleStages(traced, `marked as ${WORDS[intent.as].word}`);
  if (found !== "happened") return found;
  const marked = new Map(traced.map(({ message, now }) => [message.place.id, now]));
  const places = intent.messages.map(({ place }) => marked.get(place.id) ?? place);
  return { verdict: "happened", output: { messages: places.map(describePlace) } };
}

/** How marking messages is taken back and looked for. */
export const markKeeps = createKeeps({
  intent: intentSchema,
  after: z.unknown(),
  undo: ({ intent }, box: MailBox) => planUnmark(box, intent),
  settle: ({ intent }, box: MailBox) => settleMarks(box, intent),
});
