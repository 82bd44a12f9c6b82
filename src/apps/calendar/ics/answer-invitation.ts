import { refuseValue } from "../../../service/service-error.ts";
import { changeLine } from "../../collections/content-edit.ts";
import {
  type ContentBlock,
  type ContentFile,
  listLines,
  replaceBlock,
  replaceLines,
} from "../../collections/content-tree.ts";
import { readRawLine } from "../../collections/content-values.ts";
import type { ANSWERS } from "../agenda.ts";
import type { CalendarFile, Series } from "./calendar-file.ts";
import { addAfter, type ChangeContext, ownBlock } from "./change-series.ts";
import { toAddress } from "./describe-event.ts";
import { markChanged } from "./edit-file.ts";
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
): ContentFile {
  const { series, instance, context } = o;
  if (instance !== undefined) {
    const { block, isNew } = ownBlock(file, instance, context.zone);
    const answered = setAnswer(block, o);
    if (answered === undefined) throw refuseUninvited(o.own);
    const marked = markChanged(answered, context.now, false);
    return isNew ? addAfter(file.content, instance, marked) : replaceBlock(file.content, block, [marked]);
  }
  let { content } = file;
  for (const event of [...(series.master === undefined ? [] : [series.master]), ...series.overrides]) {
    const answered = setAnswer(event, o);
    if (answered !== undefined) content = replaceBlock(content, event, [markChanged(answered, context.now, false)]);
  }
  if (content === file.content) throw refuseUninvited(o.own);
  return content;
}

/** The event with the answer; undefined where none of the addresses is invited. */
function setAnswer(
  event: ContentBlock,
  { answer, own }: { readonly answer: string; readonly own: ReadonlySet<string> },
): ContentBlock | undefined {
  const mine = listLines(event, "ATTENDEE").filter((line) => {
    const raw = readRawLine(line);
    return raw !== undefined && own.has(toAddress(raw));
  });
  const params = { partstat: answer.toUpperCase() };
  const change = (block: ContentBlock, line: (typeof mine)[number]) =>
    replaceLines(block, [line], [changeLine(line, "ATTENDEE", { params, drops: ["rsvp"] })]);
  return mine.length === 0 ? undefined : mine.reduce(change, event);
}

function refuseUninvited(own: ReadonlySet<string>) {
  const hint =
    own.size === 0
      ? "The owner names their address in the settings of the connection."
      : "Only invitations to the address of this connection can be answered.";
  return refuseValue("event_id", "names an event to which this account is not invited.", hint);
}
