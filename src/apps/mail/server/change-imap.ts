import { afterChange, refuseBare, ServiceError } from "../../../service/service-error.ts";
import type { ChangeTerms, MailMark, MailPlace } from "../mail-box.ts";
import { checkMarked, findLastChange, holdSame, holdSameAgain } from "./hold-same.ts";
import { listImapFolders, pickFolder } from "./imap-folders.ts";
import { groupByFolder, type HeldMessage, holdMessages, inFolder, makeFolder, moveMessages } from "./imap-messages.ts";
import type { ImapLine } from "./imap-session.ts";
import { isRefusal, readFault } from "./mail-failure.ts";

/** Called with the messages as they are, as the last thing before anything changes. */
export type Begin = (held: readonly HeldMessage[]) => Promise<void>;

interface BegunTerms extends ChangeTerms {
  readonly begin: Begin;
}

const FLAGS: Record<MailMark, readonly [change: "messageFlagsAdd" | "messageFlagsRemove", flag: string]> = {
  read: ["messageFlagsAdd", "\\Seen"],
  unread: ["messageFlagsRemove", "\\Seen"],
  flagged: ["messageFlagsAdd", "\\Flagged"],
  unflagged: ["messageFlagsRemove", "\\Flagged"],
};

/** See `MailBox.foresee`. */
export function foreseeFlags(marks: string, as: MailMark): string {
  const [change, flag] = FLAGS[as];
  const others = marks.split(" ").filter((one) => one !== "" && one !== flag);
  return [...others, ...(change === "messageFlagsAdd" ? [flag] : [])].sort().join(" ");
}

/** How messages must stay, where somebody was shown them, or they were kept. */
function listShown(held: readonly HeldMessage[], { isExact, before }: ChangeTerms): MailPlace[] | undefined {
  return isExact || before !== undefined ? held.map(({ state }) => state) : undefined;
}

/**
 * What goes wrong after `changed` was changed is no longer "nothing was done", and says so. Where nothing is kept, a caller may
 * repeat what got no answer, as far as its action says so.
 */
async function afterStep<T>(
  line: ImapLine,
  { changed, before }: { readonly changed: string | undefined; readonly before: ChangeTerms["before"] },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isAnswered = error instanceof ServiceError || isRefusal(error);
    if (changed === undefined || (!isAnswered && before === undefined)) throw error;
    // As the session does, which does not see this error.
    if (!isAnswered) line.client.close();
    const { responseText, message } = readFault(error);
    const said = error instanceof ServiceError ? error : refuseBare(500, "provider_error", responseText ?? message);
    return afterChange(changed, () => Promise.reject(said));
  }
}

/** See `MailBox.mark`. */
export async function markOnServer(
  line: ImapLine,
  places: readonly MailPlace[],
  { as, begin, ...terms }: BegunTerms & { readonly as: MailMark },
): Promise<MailPlace[]> {
  const [change, flag] = FLAGS[as];
  const { before } = terms;
  const ids = places.map(({ id }) => id);
  const first = await holdSame(line, ids, terms.isExact ? places : undefined);
  await begin(first);
  const shown = listShown(first, terms);
  const groups = groupByFolder(first);
  let changed: string | undefined;
  for (const group of groups) {
    const isFresh = groups.length === 1 && before === undefined;
    const held = isFresh ? group.held : await holdSameAgain(line, group, { shown, changed });
    const o = { uid: true, ...(shown && { unchangedSince: findLastChange(held) }) };
    const { folder, uids } = group;
    const store = () => inFolder(line, folder, async () => line.need(await line.client[change](uids, [flag], o)));
    await afterStep(line, { changed, before }, store);
    changed = ids.length === 1 ? "The message" : `Some of ${ids.length} messages`;
  }
  const states = (await afterStep(line, { changed, before }, () => holdMessages(line, ids))).map(({ state }) => state);
  if (shown !== undefined) await checkMarked(states, as);
  return states;
}

/** See `MailBox.move`. */
export async function moveOnServer(
  line: ImapLine,
  places: readonly MailPlace[],
  { target, begin, ...terms }: BegunTerms & { readonly target: string },
): Promise<MailPlace[]> {
  const { before } = terms;
  const ids = places.map(({ id }) => id);
  const known = pickFolder(await listImapFolders(line), target);
  const held = await holdSame(line, ids, terms.isExact ? places : undefined);
  await begin(held);
  const shown = listShown(held, terms);
  const folder = known ?? (await makeFolder(line, target));
  const moved = new Map<string, MailPlace>();
  const groups = groupByFolder(held);
  let changed = known === undefined ? `The new folder "${folder.name}"` : undefined;
  for (const group of groups) {
    const { folder: from, uids } = group;
    if (from.path === folder.path) continue;
    const isFresh = groups.length === 1 && known !== undefined && before === undefined;
    if (!isFresh) await holdSameAgain(line, group, { shown, changed });
    const move = () => inFolder(line, from, () => moveMessages(line, uids, folder));
    const map = await afterStep(line, { changed, before }, move);
    changed = ids.length === 1 ? "The message" : `Some of ${ids.length} messages`;
    for (const { state, place } of held) {
      const id = place.folder === from.digest ? map(place.uid) : undefined;
      if (id !== undefined) moved.set(state.id, { ...state, id, folder: folder.name });
    }
  }
  return held.map(({ state }) => moved.get(state.id) ?? { ...state, folder: folder.name });
}
