import { afterChange } from "../../../service/service-error.ts";
import { refuseChanged } from "../../port/preview.ts";
import { isMarked, isSamePlace, type MailMark, type MailPlace } from "../mail-box.ts";
import { type HeldGroup, type HeldMessage, holdMessages } from "./imap-messages.ts";
import type { ImapLine } from "./imap-session.ts";

/**
 * The messages with these ids. Throws ServiceError 412 when one is not as it was shown, where somebody was shown them; 404 for
 * one that is missing. Their folder stays selected where they have only one: a command that follows comes right behind.
 */
export async function holdSame(
  line: ImapLine,
  ids: readonly string[],
  shown: readonly MailPlace[] | undefined,
): Promise<readonly HeldMessage[]> {
  const held = await holdMessages(line, ids);
  const places = new Map(shown?.map((place) => [place.id, place]));
  const isSame = ({ state }: HeldMessage) => isSamePlace(places.get(state.id) ?? state, state);
  if (!held.every(isSame)) throw refuseChanged();
  return held;
}

/**
 * {@link holdSame} for those of one folder, once more after what `changed` names was changed: then what it refuses is no longer
 * "nothing was done". Does not look where nobody was shown them.
 */
export async function holdSameAgain(
  line: ImapLine,
  { held }: HeldGroup,
  { shown, changed }: { readonly shown: readonly MailPlace[] | undefined; readonly changed: string | undefined },
): Promise<readonly HeldMessage[]> {
  if (shown === undefined) return held;
  const ids = held.map(({ state }) => state.id);
  const look = () => holdSame(line, ids, shown);
  return changed === undefined ? look() : afterChange(changed, look);
}

/** Number of the newest change of any of the messages; undefined where the server counts none. */
export function findLastChange(held: readonly HeldMessage[]): bigint | undefined {
  const [first, ...rest] = held.map(({ modseq }) => modseq);
  return rest.reduce((last, one) => (one !== undefined && last !== undefined && one > last ? one : last), first);
}

/** Throws ServiceError unless all are marked: a server leaves out those that somebody changed since the number of a change. */
export async function checkMarked(states: readonly MailPlace[], as: MailMark): Promise<void> {
  const done = states.filter((state) => isMarked(state, as)).length;
  if (done === states.length) return;
  if (done === 0) throw refuseChanged();
  await afterChange(`${done} of ${states.length} messages`, () => Promise.reject(refuseChanged()));
}
