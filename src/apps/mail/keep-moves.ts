import { z } from "zod";
import { afterChange, refuseBare, ServiceError } from "../../service/service-error.ts";
import { createKeeps } from "../port/define-action.ts";
import type { ActionContext } from "../port/integration.ts";
import { refuseChanged } from "../port/preview.ts";
import { cannotKnow, refuseUndo, type UndoPlan, type Verdict } from "../port/undo.ts";
import { describePlace, knowAgain, knownMessageSchema, quoteSubject, type Stage, settleStages } from "./kept-mail.ts";
import type { KnownMessage, MailBox, MailPlace, MessageHead, MoveTrace, TracedMessage } from "./mail-box.ts";
import { previewMoveBack } from "./preview-undo.ts";
import { raiseChange } from "./raised-changes.ts";

/** `messages`: all that were named, in the order of `ids`, also those that were there already. */
const intentSchema = z.object({
  target: z.string(),
  /** See `MoveTrace`; left out where the folder was not there. */
  arrivals: z.string().optional(),
  isDeletion: z.boolean(),
  messages: z.array(knownMessageSchema),
});
type Intent = z.output<typeof intentSchema>;

/** The ids of the messages after the move. */
const afterSchema = z.object({ ids: z.array(z.string()) });
type After = z.output<typeof afterSchema>;

/** Moves messages, with what is needed to take it back. `isExact` as in `ChangeTerms`. */
export async function moveKept(
  box: MailBox,
  { keep, leave }: Pick<ActionContext, "keep" | "leave">,
  o: { heads: readonly MessageHead[]; target: string; isDeletion: boolean; isExact: boolean },
): Promise<MailPlace[]> {
  const { heads, target, isDeletion, isExact } = o;
  const arrivals = keep && (await box.seeArrivals(target));
  const before = async (held: readonly MailPlace[]) => {
    if (held.every(({ folder }) => folder === target)) return;
    await keep?.({ target, arrivals, isDeletion, messages: knowAgain(heads, held) });
  };
  const places = heads.map(({ place }) => place);
  const moved = await box.move(places, target, { isExact, before: keep && before });
  leave?.({ ids: moved.map(({ id }) => id) } satisfies After);
  return moved;
}

interface TracedMove extends TracedMessage {
  readonly message: KnownMessage;
  readonly subject: string;
  readonly stage: Stage;
}

/** The messages that had to be moved, as they are now. */
async function trace(box: MailBox, { target, arrivals, messages }: Intent, after?: After): Promise<TracedMove[]> {
  const pairs = messages
    .map((message, index) => ({ message, id: after?.ids[index] ?? "" }))
    .filter(({ message }) => message.place.folder !== target);
  const ids = after && pairs.map(({ id }) => id);
  const moved: MoveTrace = { folder: target, arrivals, ids };
  const list = pairs.map(({ message }) => message);
  const traced = await box.trace(list, moved);
  return list.map((message, index) => {
    const { here, there } = traced[index] ?? { here: undefined, there: undefined };
    return { message, here, there, subject: message.subject, stage: findStage(message, { here, there }) };
  });
}

function findStage({ place: { marks } }: KnownMessage, { here, there }: TracedMessage): Stage {
  if (here === undefined && there?.marks === marks) return "done";
  return there === undefined && here?.marks === marks ? "undone" : "other";
}

/** Why a message cannot be moved back; undefined where it can. */
function whyNot({ message, here, there, stage }: TracedMove, target: string): string | undefined {
  if (stage === "done") return undefined;
  const subject = quoteSubject(message);
  if (here !== undefined) return `${subject} is in "${here.folder}" again.`;
  return there === undefined ? `${subject} is not in "${target}" any more.` : `${subject} was changed since.`;
}

/** Every message back into its own folder, if none of them is another by now. */
async function planMoveBack(box: MailBox, intent: Intent, after: After | undefined): Promise<UndoPlan> {
  const { target, isDeletion, arrivals } = intent;
  const find = async () => {
    const traced = await trace(box, intent, after);
    const why = traced.map((one) => whyNot(one, target)).find((one) => one !== undefined);
    const places = traced.flatMap(({ there, message }) =>
      there ? [{ place: there, home: message.place.folder }] : [],
    );
    return { why, places };
  };
  const { why, places } = await find();
  if (why !== undefined) throw refuseUndo(why);
  const homes = Map.groupBy(places, ({ home }) => home);
  const putAway: string[] = [];
  for (const home of homes.keys()) {
    const { isThere, isPutAway } = await box.lookAtFolder(home);
    if (!isThere) throw refuseUndo(`the folder "${home}" is not there any more.`);
    if (isPutAway) putAway.push(home);
  }
  const heads = await box.findHeads(places.map(({ place }) => place.id));
  const back = places.flatMap(({ place, home }) => {
    const head = heads.get(place.id);
    return head === undefined ? [] : [{ head, home }];
  });
  return {
    draft: previewMoveBack(back, { target, isDeletion, isMade: arrivals === undefined, putAway }),
    raised: raiseChange({ count: places.length, isPutAway: putAway.length > 0 }),
    async act() {
      // Before the first step, all of them; before each step, those of that step.
      if (homes.size > 1 && (await find()).why !== undefined) throw refuseChanged();
      return { messages: (await moveBack(box, homes)).map(describePlace) };
    },
  };
}

async function moveBack(
  box: MailBox,
  homes: ReadonlyMap<string, readonly { readonly place: MailPlace }[]>,
): Promise<MailPlace[]> {
  const all = [...homes.values()].flat().length;
  const moved: MailPlace[] = [];
  for (const [home, own] of homes) {
    const places = own.map(({ place }) => place);
    const move = () => box.move(places, home, { isExact: true, before: async () => {} });
    const done = `${moved.length} of ${all} messages`;
    moved.push(...(moved.length === 0 ? await move() : await afterChange(done, () => move().catch(tellRest))));
  }
  return moved;
}

/** That nobody knows what became of the rest is said beside what is done. */
function tellRest(error: unknown): never {
  const isDoubt = error instanceof ServiceError && error.code === "outcome_unknown";
  throw isDoubt ? refuseBare(500, "provider_error", error.message, error) : error;
}

async function settleMove(box: MailBox, intent: Intent): Promise<Verdict> {
  const { target, arrivals, isDeletion } = intent;
  const traced = await trace(box, intent);
  const found = settleStages(traced, `in "${target}"`);
  if (found === "happened") {
    const moved = new Map(traced.map(({ message, there }) => [message.place.id, there]));
    const places = intent.messages.map(({ place }) => moved.get(place.id) ?? place);
    const output = { messages: places.map(describePlace), ...(isDeletion && { deleted: true }) };
    return { verdict: "happened", output, after: { ids: places.map(({ id }) => id) } satisfies After };
  }
  const isMade = arrivals === undefined && (await box.lookAtFolder(target)).isThere;
  if (found.verdict === "did_not" && isMade)
    return cannotKnow(`The folder "${target}" is there now, and no message was moved into it.`);
  return found;
}

/** How moving messages, or deleting them, is taken back and looked for. */
export const moveKeeps = createKeeps({
  intent: intentSchema,
  after: afterSchema,
  undo: ({ intent, after }, box: MailBox) => planMoveBack(box, intent, after),
  settle: ({ intent }, box: MailBox) => settleMove(box, intent),
});
