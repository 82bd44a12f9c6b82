import type { PreviewEffect } from "../../shared/wire/preview.ts";
import type { LeftOver } from "./collection-store.ts";

/**
 * What becomes of something that is deleted; `rest` says what stays of its file, undefined where that goes with it. With `hasUndo`
 * this service can take it back.
 */
export function tellRemoved(
  { isKept, isFinal }: LeftOver,
  { rest, hasUndo }: { readonly rest: string | undefined; readonly hasUndo: boolean },
): PreviewEffect[] {
  const trash = "the trash of the folder";
  return [
    ...(isKept && rest === undefined
      ? [{ code: "moves_to_trash", text: `It moves to ${trash}; nothing is erased.` }]
      : []),
    ...(isKept && rest !== undefined
      ? [{ code: "keeps_copy", text: `A copy of the file as it is now stays in ${trash}.` }]
      : []),
    ...(isFinal && hasUndo
      ? [{ code: "keeps_copy", text: "It is gone from the server; this service keeps it for the undo." }]
      : []),
    ...(isFinal && !hasUndo ? [{ code: "final", text: "What is deleted is gone from the server." }] : []),
    ...(rest === undefined ? [] : [{ code: "keeps_rest", text: rest }]),
  ];
}
