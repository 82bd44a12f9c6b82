import { exactTime, toOneLine } from "../../shared/base/text.ts";
import type { PreviewChange, PreviewEffect, PreviewObject } from "../../shared/wire/preview.ts";
import { changeValue, type PreviewDraft, quoteName } from "../port/preview.ts";
import { isMarked, type MailMark, type MessageHead } from "./mail-box.ts";

/** Senders that are named of many messages. */
const MAX_SENDERS = 3;

/** What a mark is called, and the one before it. */
export const WORDS: Readonly<Record<MailMark, { readonly word: string; readonly back: string }>> = {
  read: { word: "read", back: "unread" },
  unread: { word: "unread", back: "read" },
  flagged: { word: "flagged", back: "not flagged" },
  unflagged: { word: "not flagged", back: "flagged" },
};

/** What a change of messages depends on, for the state of a preview. */
export function seeHeads(heads: readonly MessageHead[]): unknown {
  return heads.map(({ place: { id, folder, marks }, from, subject, date = "" }) => [
    ...[id, folder, marks],
    ...[from, subject, date],
  ]);
}

/** The preview of marking messages. */
export function previewMark(heads: readonly MessageHead[], as: MailMark): PreviewDraft {
  const { word, back } = WORDS[as];
  const changed = heads.filter(({ place }) => !isMarked(place, as));
  const rest = heads.length - changed.length;
  const same = changed.length === 0 ? `; ${heads.length === 1 ? "it is" : "they are"} already` : "";
  return {
    ...describeHeads(heads),
    summary: `Mark ${nameHeads(heads)} as ${word}${same}`,
    changes: changed.length === 0 ? [] : changeValue(`State of ${count(changed.length)}`, back, word),
    effects: [
      ...gather(heads, "changes_many"),
      ...(rest > 0 && changed.length > 0
        ? [{ code: "unchanged", text: `${count(rest)} ${rest === 1 ? "is" : "are"} ${word} already.` }]
        : []),
    ],
    undo: same === "" ? { possible: true } : { possible: false, why: "Nothing changes." },
    seen: seeHeads(heads),
  };
}

/** Where messages are moved to. */
interface PlannedMove {
  readonly target: string;
  readonly isNew: boolean;
  readonly isPutAway: boolean;
  /** True where the move is how messages are deleted. Default false. */
  readonly isDeletion?: boolean;
  readonly seen: unknown;
}

/** The preview of moving messages, or of deleting them. */
export function previewMove(heads: readonly MessageHead[], plan: PlannedMove): PreviewDraft {
  const { target, isDeletion = false, seen } = plan;
  const moved = heads.filter(({ place }) => place.folder !== target);
  const to = quoteName(target, 24);
  const isOne = heads.length === 1;
  const same = moved.length === 0 ? `; ${isOne ? "it is" : "they are"} there already` : "";
  const summary = isDeletion
    ? `Delete ${nameHeads(heads)}; ${isOne ? "it goes" : "they go"} to ${to}`
    : `Move ${nameHeads(heads)} to ${to}${same}`;
  const until = isDeletion ? { why: `Until ${to} is emptied.` } : {};
  return {
    ...describeHeads(heads),
    summary,
    changes: listFolderChanges(moved, target),
    effects: [...gather(heads, "moves_many"), ...listMoveEffects(plan)],
    undo: moved.length === 0 ? { possible: false, why: "Nothing changes." } : { possible: true, ...until },
    seen,
  };
}

function listMoveEffects({ target, isNew, isPutAway, isDeletion = false }: PlannedMove): PreviewEffect[] {
  const to = quoteName(target, 100);
  if (isDeletion)
    return [
      { code: "moves_to_trash", text: `${to} keeps what is deleted until it is emptied; nothing is erased now.` },
    ];
  return [
    ...(isNew ? [{ code: "creates_folder", text: `New folder: ${to}.` }] : []),
    ...(isPutAway ? [{ code: "hides", text: `${to} is for what is thrown away or hidden; it may be emptied.` }] : []),
  ];
}

/** One line for each folder that messages come from. */
function listFolderChanges(moved: readonly MessageHead[], target: string): PreviewChange[] {
  const folders = Map.groupBy(moved, ({ place }) => place.folder);
  return [...folders].flatMap(([folder, own]) => changeValue(`Folder of ${count(own.length)}`, folder, target));
}

/** The messages that a preview lists. */
export function describeHeads(heads: readonly MessageHead[]): Pick<PreviewDraft, "objects" | "objectCount"> {
  return { objects: heads.slice(0, 10).map(describeHead), objectCount: heads.length };
}

function describeHead(head: MessageHead): PreviewObject {
  const { folder, isUnread, isFlagged, isAnswered } = head.place;
  const states = [isUnread ? "unread" : "read", ...(isFlagged ? ["flagged"] : []), ...(isAnswered ? ["answered"] : [])];
  const details = [
    { label: "From", value: toOneLine(head.from) },
    { label: "Date", value: exactTime(findDate(head)) },
    { label: "Folder", value: folder },
    { label: "State", value: states.join(", ") },
  ];
  return { kind: "message", name: nameSubject(head), details: details.filter(({ value }) => value !== "") };
}

/** One message by its subject and sender, several by their number and folder. */
export function nameHeads(heads: readonly MessageHead[]): string {
  const [first] = heads;
  if (first === undefined || heads.length > 1) return `${count(heads.length)}${nameFolders(heads)}`;
  return `${quoteName(nameSubject(first))} from ${quoteName(nameSender(first), 24)}`;
}

function nameFolders(heads: readonly MessageHead[]): string {
  const folders = new Set(heads.map(({ place }) => place.folder));
  const [first = ""] = folders;
  return folders.size === 1 ? ` in ${quoteName(first, 24)}` : ` in ${folders.size} folders`;
}

/** Who wrote many messages, and when. */
export function gather(heads: readonly MessageHead[], code: string): PreviewEffect[] {
  if (heads.length < 2) return [];
  const senders = [...Map.groupBy(heads, nameSender)].sort(([, a], [, b]) => b.length - a.length);
  const named = senders.slice(0, MAX_SENDERS).map(([name, own]) => `${quoteName(name, 24)} (${own.length})`);
  const more = senders.length - named.length;
  const dates = heads.map((head) => findDate(head).slice(0, 10)).sort();
  const span = dates[0] === dates.at(-1) ? `of ${dates[0]}` : `from ${dates[0]} to ${dates.at(-1)}`;
  const text = `${count(heads.length)} ${span}, by ${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}.`;
  return [{ code, text }];
}

/** The subject of a message, in words where it has none. */
export function nameSubject({ subject }: Pick<MessageHead, "subject">): string {
  return toOneLine(subject) || "(no subject)";
}

/** The name of a sender, or the address where there is none. */
export function nameSender({ from }: Pick<MessageHead, "from">): string {
  const [, name = ""] = /^(.*\S)\s*<[^<>]*>$/.exec(toOneLine(from)) ?? [];
  return name || toOneLine(from) || "(nobody)";
}

/** When a message was written, as it says, or came; ISO 8601. */
export function findDate({ date = "", place }: Pick<MessageHead, "date" | "place">): string {
  const written = Date.parse(date);
  return new Date(Number.isNaN(written) ? place.receivedAt : written).toISOString();
}

/** Such as `2 messages`. */
export function count(messages: number): string {
  return `${messages} message${messages === 1 ? "" : "s"}`;
}
