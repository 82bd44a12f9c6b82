import { refuseValue } from "../../../service-error.ts";
import { type ContentBlock, listLines, replaceLines } from "../../collections/content-tree.ts";
import { readRawLine, writeRawLine } from "../../collections/content-values.ts";
import type { ANSWERS } from "../agenda.ts";
import type { CalendarFile, Series } from "./calendar-file.ts";
import { addAfter, type ChangeContext, ownBlock } from "./change-series.ts";
import { toAddress } from "./describe-event.ts";
import { markChanged, replaceEvent } from "./edit-file.ts";
import type { Instance } from "./instances.ts";

/** The file after an answer to an invitation: for one instance, or for the event with all its instances. */
export function answerInvitation(
  file: CalendarFile,
  o: {
    readonly series: Series;
    readonly instance: Instance | undefined;
    readonly answer: (typeof ANSWERS)[number];
    /** Addresses of whoever answers, in lower case. */
    readonly own: ReadonlySet<string>;
    readonly context: ChangeContext;
  },
): ContentBlock {
  const { series, instance, context } = o;
  if (instance !== undefined) {
    const { block, isNew } = ownBlock(file, instance, context.zone);
    const answered = setAnswer(block, o);
    if (answered === undefined) throw refuseUninvited(o.own);
    const marked = markChanged(answered, context.now, false);
    return isNew ? addAfter(file.root, instance, marked) : replaceEvent(file.root, block, [marked]);
  }
  let { root } = file;
  for (const event of [...(series.master === undefined ? [] : [series.master]), ...series.overrides]) {
    const answered = setAnswer(event, o);
    if (answered !== undefined) root = replaceEvent(root, event, [markChanged(answered, context.now, false)]);
  }
  if (root === file.root) throw refuseUninvited(o.own);
  return root;
}

/** The event with the answer; undefined where none of the addresses is invited. */
function setAnswer(
  event: ContentBlock,
  { answer, own }: { readonly answer: string; readonly own: ReadonlySet<string> },
): ContentBlock | undefined {
  let isInvited = false;
  const lines = listLines(event, "ATTENDEE").map((line) => {
    const raw = readRawLine(line);
    if (raw === undefined || !own.has(toAddress(raw))) return line;
    isInvited = true;
    const { rsvp: _, ...kept } = raw.params;
    return writeRawLine("ATTENDEE", raw.value, { ...kept, partstat: answer.toUpperCase() });
  });
  return isInvited ? replaceLines(event, "ATTENDEE", lines) : undefined;
}

function refuseUninvited(own: ReadonlySet<string>) {
  const hint =
    own.size === 0
      ? "The owner names their address in the settings of the connection."
      : "Only invitations to the address of this connection can be answered.";
  return refuseValue("event_id", "names an event to which this account is not invited.", hint);
}
