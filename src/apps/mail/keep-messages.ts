import { z } from "zod";
import { createKeeps } from "../port/define-action.ts";
import type { ActionContext } from "../port/integration.ts";
import { refuseChanged } from "../port/preview.ts";
import { cannotKnow, refuseUndo, type UndoPlan, type Verdict } from "../port/undo.ts";
import { describePlace, quoteSubject } from "./kept-mail.ts";
import { isWithoutArrivals, type MailBox, type MailPlace } from "./mail-box.ts";
import { previewUndraft } from "./preview-undo.ts";

/** A message before it is written, as the answer describes it; its Message-ID is chosen by then. */
const writtenSchema = z.looseObject({ message_id_header: z.string(), subject: z.string() });
type Written = z.output<typeof writtenSchema>;

const placed = {
  folder: z.string(),
  /** As `MailBox.seeArrivals` said before; left out where the folder was not there. */
  arrivals: z.string().optional(),
};

/** `size` in bytes, where it tells the draft from one that was changed. */
const draftSchema = z.object({ ...placed, message: writtenSchema, size: z.number().optional() });
type KeptDraft = z.output<typeof draftSchema>;

const sendSchema = z.object({ ...placed, message: writtenSchema, recipients: z.array(z.string()) });

/** Keeps what a draft is looked for by. */
export async function keepDraft(
  { keep }: Pick<ActionContext, "keep">,
  box: MailBox,
  { size, ...message }: Written & { size: number | undefined },
): Promise<void> {
  if (keep === undefined) return;
  const folder = await box.findFolder("Drafts", { mayBeMade: true });
  await keep({ folder, arrivals: await box.seeArrivals(folder), message, size } satisfies KeptDraft);
}

/** Keeps what a message that is sent is looked for by. */
export async function keepSending(
  { keep }: Pick<ActionContext, "keep">,
  box: MailBox,
  { recipients, ...message }: Written & { recipients: string[] },
): Promise<void> {
  if (keep === undefined) return;
  const folder = await box.findFolder("Sent", { mayBeMade: true });
  const arrivals = await box.seeArrivals(folder);
  await keep({ folder, arrivals, message, recipients } satisfies z.output<typeof sendSchema>);
}

/** The draft as it was written. Throws ServiceError 409 where it is not there, or is another by now. */
async function findDraft(box: MailBox, { folder, message, size }: KeptDraft): Promise<MailPlace> {
  const name = quoteSubject(message);
  const [place, second] = (await box.findWritten(message.message_id_header, folder)).filter(
    (one) => one.folder === folder,
  );
  if (place === undefined) throw refuseUndo(`${name} is not in "${folder}" any more.`);
  if (second !== undefined) throw refuseUndo(`${name} is in "${folder}" twice.`);
  const isMarked = place.isUnread || place.isFlagged || place.isAnswered;
  if (isMarked || (size !== undefined && size !== place.size)) throw refuseUndo(`${name} was changed since.`);
  return place;
}

/** The draft goes to the trash, where it is as it was written. */
async function planUndraft(box: MailBox, kept: KeptDraft): Promise<UndoPlan> {
  const place = await findDraft(box, kept);
  const trash = await box.findFolder("Trash", { mayBeMade: true });
  const head = (await box.findHeads([place.id])).get(place.id);
  if (head === undefined || head.place.folder === trash) throw refuseChanged();
  return {
    draft: previewUndraft(head, trash),
    raised: { level: "delete", says: "moves a draft to the trash" },
    async act() {
      const moved = await box.move([head.place], trash, { isExact: true, before: async () => {} });
      return { messages: moved.map(describePlace) };
    },
  };
}

async function settleDraft(box: MailBox, { folder, arrivals, message }: KeptDraft): Promise<Verdict> {
  const places = await box.findWritten(message.message_id_header, folder);
  const place = places.find((one) => one.folder === folder) ?? places[0];
  if (place !== undefined) {
    const output = { message_id: place.id, folder: place.folder, ...message };
    return { verdict: "happened", output };
  }
  if (isWithoutArrivals(arrivals, await box.seeArrivals(folder))) return { verdict: "did_not" };
  return cannotKnow(`The draft is not there, and "${folder}" was changed since.`);
}

/** How saving a draft is taken back and looked for. */
export const draftKeeps = createKeeps({
  intent: draftSchema,
  after: z.unknown(),
  undo: ({ intent }, box: MailBox) => planUndraft(box, intent),
  settle: ({ intent }, box: MailBox) => settleDraft(box, intent),
});

/** How a sent message is looked for; it cannot be taken back. */
export const sendKeeps = createKeeps({
  intent: sendSchema,
  after: z.unknown(),
  async settle({ intent: { message, ...sent } }, box: MailBox): Promise<Verdict> {
    const trace = await box.findSent({ ...sent, messageId: message.message_id_header, arrivals: sent.arrivals });
    if (trace.found === "unsent") return { verdict: "did_not" };
    if (trace.found === "unknown") return cannotKnow(trace.why);
    const { copy } = trace;
    return {
      verdict: "happened",
      output: { message_id: copy?.id ?? null, folder: copy?.folder ?? sent.folder, ...message },
    };
  },
});
