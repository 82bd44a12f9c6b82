import { collectForms } from "../../shared/seen/collect-forms.ts";
import { isOnlyNamed, type Origin } from "../../shared/wire/origin.ts";
import { nameFile } from "./file-texts.ts";
import { collectSaid, type JudgedValues, judgeValues, type KnownValues, openEvidence } from "./judge-origins.ts";
import { collectParts, type EndedCall } from "./note-results.ts";
import type { SeenPart } from "./seen-rows.ts";

/**
 * The values of a write that came from somebody else: from now on they are theirs in the owner's data, too. A place to send to
 * that only a text of the owner's names stays one, also once something was sent there. `known`: as it was before the write.
 */
export function findCarried(principal: EndedCall["principal"], values: JudgedValues, known: KnownValues): SeenPart[] {
  const { index, digest } = known;
  const { seen, own, carried } = openEvidence(known);
  const said = collectSaid(values.said);
  const found = collectParts(principal);
  const add = (form: string) => {
    if (said.find(form) !== undefined) return;
    const ownSource = own.find(form);
    const source = carried.find(form) ?? ownSource ?? seen.find(form);
    if (source === undefined || (source === ownSource && !(isPlace(form) && isOnlyNamed(source)))) return;
    const bytes = digest(form);
    if (!index.isKept("carried", bytes)) found.add("carried", source, bytes);
  };
  for (const form of collectForms(values.args)) add(form);
  for (const { sha256, text } of values.files) {
    if (sha256 !== undefined) add(nameFile(sha256));
    for (const form of text === undefined ? [] : collectForms(text)) add(form);
  }
  for (const { origin, value, source } of judgeValues(values, known)) {
    if (origin !== "somebody" || source === undefined) continue;
    // Also what stands in another guise in the call than where it was seen.
    for (const form of collectForms(value)) {
      const bytes = digest(form);
      if (said.find(form) === undefined && !index.isKept("carried", bytes))
        found.add("carried", { ...source, whose: "somebody" }, bytes);
    }
  }
  return found.list();
}

const LEAKS: ReadonlySet<string> = new Set(["address", "host", "link"]);
const MAX_LEAKS = 5;

/** True for arguments that hold an address, host or link. */
export function mayLeak(args: JudgedValues["args"]): boolean {
  return collectForms(args).some(isPlace);
}

function isPlace(form: string): boolean {
  return LEAKS.has(form.slice(0, form.indexOf(":")));
}

/**
 * Addresses, hosts and links in the arguments of a read that came from somebody else, with the app and kind of where they were
 * seen: who wrote it is forgotten with the values.
 */
export function findLeaks(args: JudgedValues["args"], known: KnownValues): Origin[] {
  return judgeValues({ args, files: [], said: [] }, known)
    .filter(({ origin, kind }) => origin === "somebody" && LEAKS.has(kind))
    .slice(0, MAX_LEAKS)
    .map(({ source, ...origin }) => ({
      ...origin,
      source: { app: source?.app ?? "", kind: source?.kind ?? "answer" },
    }));
}
