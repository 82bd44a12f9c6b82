import { changeValue, type PreviewDraft, quoteName } from "../port/preview.ts";
import type { MailMark, MessageHead } from "./mail-box.ts";
import {
  count,
  describeHeads,
  gather,
  nameHeads,
  nameSubject,
  previewMark,
  previewMove,
  seeHeads,
} from "./preview-change.ts";

/** The preview of taking a mark back; `as` is the mark that messages get again. */
export function previewUnmark(heads: readonly MessageHead[], as: MailMark): PreviewDraft {
  const draft = previewMark(heads, as);
  return { ...draft, summary: `${draft.summary} again`, undo: { possible: false, why: "They can be marked again." } };
}

/** What moving messages back depends on. */
interface PlannedReturn {
  /** The folder that they were moved into. */
  readonly target: string;
  readonly isDeletion: boolean;
  /** True where the move made that folder. */
  readonly isMade: boolean;
  /** Those of their old folders that are for what is thrown away. */
  readonly putAway: readonly string[];
}

/** The preview of moving messages back, each into the folder `home` that it came from. */
export function previewMoveBack(
  back: readonly { readonly head: MessageHead; readonly home: string }[],
  { target, isDeletion, isMade, putAway }: PlannedReturn,
): PreviewDraft {
  const heads = back.map(({ head }) => head);
  const homes = Map.groupBy(back, ({ home }) => home);
  const [first = ""] = homes.keys();
  const where = homes.size === 1 ? quoteName(first, 24) : `the ${homes.size} folders they came from`;
  const stays = { code: "keeps_folder", text: `The folder ${quoteName(target, 100)}, which was made for them, stays.` };
  return {
    ...describeHeads(heads),
    summary: `${isDeletion ? "Bring" : "Move"} ${nameHeads(heads)} back to ${where}`,
    changes: [...homes].flatMap(([home, own]) => changeValue(`Folder of ${count(own.length)}`, target, home)),
    effects: [
      ...gather(heads, "moves_many"),
      ...(isMade ? [stays] : []),
      ...putAway.map((home) => ({
        code: "hides",
        text: `${quoteName(home, 100)} is for what is thrown away or hidden; it may be emptied.`,
      })),
    ],
    undo: { possible: false, why: `They can be moved to ${quoteName(target, 60)} again.` },
    seen: [seeHeads(heads), target, back.map(({ home }) => home)],
  };
}

/** The preview of taking back a draft: it goes to the folder `trash`. */
export function previewUndraft(head: MessageHead, trash: string): PreviewDraft {
  const draft = previewMove([head], {
    ...{ target: trash, isNew: false, isPutAway: true, isDeletion: true },
    seen: [seeHeads([head]), trash],
  });
  const summary = `Delete the draft ${quoteName(nameSubject(head))}; it goes to ${quoteName(trash, 24)}`;
  const why = `It can be moved back to ${quoteName(head.place.folder, 60)} until ${quoteName(trash, 60)} is emptied.`;
  return { ...draft, summary, undo: { possible: false, why } };
}
