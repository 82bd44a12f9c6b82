import type { Zone } from "../../shared/base/zones.ts";
import type { StoredItem } from "../collections/collection-store.ts";
import { tellRemoved } from "../collections/tell-removed.ts";
import type { UndoneItem } from "../collections/undo-item.ts";
import { changeText, changeValue, type PreviewDraft, quoteName, refuseChanged } from "../port/preview.ts";
import { type PreviewLook, tellOverlaps, tellPeopleAgain } from "./event-effects.ts";
import { type EventView, viewEvent } from "./event-view.ts";
import { type FoundInstance, findWritten } from "./find-events.ts";
import {
  compare,
  describe,
  NO_ANSWER,
  nameScope,
  readScope,
  type Scope,
  sayAnswer,
  sayZone,
  summarise,
  tellLost,
} from "./preview-event.ts";

type Draft = Omit<PreviewDraft, "seen">;

/** An event, and what is shown of it. */
interface Shown {
  readonly found: FoundInstance;
  readonly view: EventView;
  readonly scope: Scope;
}

/** The preview of taking back a write; `zone` is the one of that call. */
export async function previewUndo(undone: UndoneItem, zone: Zone, look: PreviewLook): Promise<Draft> {
  const { present, restored, write, part } = undone;
  const show = (item: StoredItem): Shown => {
    const found = findWritten(item, part.index, { name: part.instance, zone });
    return { found, view: viewEvent(found, look), scope: readScope(found, part) };
  };
  if (restored === undefined) {
    if (present === undefined) throw refuseChanged();
    return previewTaking(show(present), look);
  }
  const old = show(restored);
  if (present === undefined || write === "remove") return previewReturn(old, undone, look);
  const now = show(present);
  return write === "answer" ? previewAnswerBack(now, old, look) : previewChangeBack(now, old, look);
}

async function previewTaking({ found, view, scope }: Shown, look: PreviewLook): Promise<Draft> {
  const left = look.store.sayLeft(found.item, undefined);
  const when = sayWhen(view, look);
  return {
    summary: summarise(view, (name) => [`Take ${name} out of ${quoteName(view.calendar, 24)} again (${when})`]),
    objects: [describe(found, view, look, scope)],
    changes: changeValue("Text", view.description, undefined),
    effects: [
      ...tellRemoved(left, { rest: undefined, hasUndo: false }),
      ...(await tellPeopleAgain(view, "removal", look)),
    ],
    undo: { possible: false, why: left.left },
  };
}

async function previewReturn(
  { found, view, scope }: Shown,
  { present, restored, isTrashed }: UndoneItem,
  look: PreviewLook,
): Promise<Draft> {
  const to = quoteName(view.calendar, 24);
  const from = isTrashed ? " from the trash" : "";
  const when = sayWhen(view, look);
  const [people, overlaps] = await Promise.all([
    tellPeopleAgain(view, "return", look),
    tellOverlaps(found, scope === "series", look),
  ]);
  return {
    summary: summarise(view, (name) => [`Bring back ${nameScope(name, scope)}${from} to ${to} (${when})`]),
    objects: [describe(found, view, look, scope)],
    changes: changeText("Text", "", view.description),
    effects: [...people, ...overlaps],
    undo: { possible: false, why: sayLeft(present, restored, look) },
  };
}

async function previewChangeBack(now: Shown, old: Shown, look: PreviewLook): Promise<Draft> {
  const changes = compare(now.view, old.view);
  const isMoved = now.view.time !== old.view.time;
  const [people, overlaps] = await Promise.all([
    tellPeopleAgain(now.view, "change", look),
    isMoved ? tellOverlaps(old.found, old.scope === "series", look) : [],
  ]);
  const zone = sayZone(old.view, look);
  return {
    summary: summarise(now.view, (name) => {
      const what = nameScope(name, now.scope);
      if (now.view.start !== old.view.start)
        return [`Move ${what} back from ${now.view.start} to ${old.view.start}${zone}`];
      return [`Change ${what} back to how it was before (${old.view.start}${zone})`];
    }),
    objects: [describe(now.found, now.view, look, now.scope)],
    changes,
    effects: [...people, ...tellLost(now.view, old.view, changes), ...overlaps],
    undo: { possible: false, why: sayLeft(now.found.item, old.found.item, look) },
  };
}

async function previewAnswerBack(now: Shown, old: Shown, look: PreviewLook): Promise<Draft> {
  const hadAnswer = sayAnswer(old.view.ownAnswer) !== NO_ANSWER;
  const { organizer } = now.view;
  const from = organizer === undefined ? "" : ` from ${quoteName(organizer.name || organizer.address, 24)}`;
  const when = `${now.view.start}${sayZone(now.view, look)}`;
  return {
    summary: summarise(now.view, (name) => [
      `Take back the answer to ${nameScope(`the invitation ${name}`, now.scope)}${from} (${when})`,
    ]),
    objects: [describe(now.found, now.view, look, now.scope)],
    changes: changeValue("Your answer", sayAnswer(now.view.ownAnswer), sayAnswer(old.view.ownAnswer)),
    effects: await tellPeopleAgain(now.view, hadAnswer ? "earlier answer" : "no answer", look),
    undo: { possible: false, why: "Another answer can be given at any time." },
  };
}

function sayWhen(view: EventView, look: PreviewLook): string {
  return `${view.span}${sayZone(view, look)}`;
}

/** What stays where an item is replaced by an earlier one. */
function sayLeft(present: StoredItem | undefined, restored: StoredItem | undefined, look: PreviewLook): string {
  if (present === undefined) return "It can be deleted again.";
  return look.store.sayLeft(present, restored?.bytes).left;
}
