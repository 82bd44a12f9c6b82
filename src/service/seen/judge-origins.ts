import { collectForms } from "../../shared/seen/collect-forms.ts";
import type { Evidence, SeenSource } from "../../shared/seen/evidence.ts";
import { judgeCall } from "../../shared/seen/judge-call.ts";
import { MAX_ORIGINS, type Origin } from "../../shared/wire/origin.ts";
import type { Digest } from "./digest-table.ts";
import { type CallFile, nameFile } from "./file-texts.ts";
import type { OwnEvidence } from "./own-index.ts";
import type { SeenIndex } from "./seen-index.ts";
import type { SeenKind } from "./seen-rows.ts";

/** All that is known of where values come from, for one key. */
export interface KnownValues {
  readonly index: SeenIndex;
  readonly own: OwnEvidence;
  readonly digest: Digest;
}

/** The parts of a call that are judged. */
export interface JudgedValues {
  readonly args: Readonly<Record<string, unknown>>;
  readonly files: readonly CallFile[];
  /** Texts that the device found in the words of its human. */
  readonly said: readonly string[];
}

/** Where the values of a call come from, sinks first. */
export function judgeValues({ args, files, said }: JudgedValues, known: KnownValues): Origin[] {
  const { seen, own, carried } = openEvidence(known);
  const texts = files.flatMap(({ argument, text }) => (text === undefined ? [] : [{ argument, text }]));
  const words = collectSaid(said);
  const origins = judgeCall({ args, files: texts }, { said: words, own, seen, carried, known: known.own.known });
  const whole = files.flatMap((file) => judgeFile(file, { own, seen, carried }));
  const isSink = ({ sink }: Origin) => sink;
  return [...origins.filter(isSink), ...whole, ...origins.filter((one) => !isSink(one))].slice(0, MAX_ORIGINS);
}

/** What was found out about values, by their forms. */
export function openEvidence({ index, own, digest }: KnownValues) {
  const of = (kind: SeenKind): Evidence => ({ find: (form) => index.find(kind, digest(form)) });
  const [seen, ownSeen, noted] = [of("seen"), of("own"), of("carried")];
  const findCarried = (form: string, whose: SeenSource["whose"]) => {
    const source = noted.find(form);
    return source?.whose === whose ? source : undefined;
  };
  return {
    seen,
    carried: { find: (form: string) => findCarried(form, "somebody") },
    own: { find: (form: string) => findCarried(form, "yours") ?? own.find(form) ?? ownSeen.find(form) },
  };
}

/** A file that came from somewhere as a whole, also one without a text. */
function judgeFile(
  { keyArgument: argument, name, sha256 }: CallFile,
  { own, seen, carried }: Readonly<Record<"own" | "seen" | "carried", Evidence>>,
): Origin[] {
  const form = sha256 === undefined ? undefined : nameFile(sha256);
  const found = form && (carried.find(form) ?? own.find(form) ?? seen.find(form));
  if (found === undefined || found === "") return [];
  const { whose, ...source } = found;
  return [{ argument, value: name.slice(0, MAX_NAME), kind: "file", origin: whose, source, sink: false }];
}

const MAX_NAME = 200;

/** More than one word, or words of a script without blanks beside something else. */
const isSentence = (value: string) =>
  (/\s/.test(value) && (value.match(/\p{L}{2,}/gu) ?? []).length > 1) ||
  (/\p{Lo}{2}/u.test(value) && /[\d@]/.test(value));

/** A sentence is found by most of its words: an address or a number in it may be another than the human typed. */
const isWords = (form: string) => form.startsWith("words:") || form.startsWith("name:");

/** The words of a human as evidence: only for the label. */
export function collectSaid(said: readonly string[]): Evidence {
  const forms = new Set(
    said.flatMap((value) => (isSentence(value) ? collectForms(value).filter(isWords) : collectForms(value))),
  );
  const source = { whose: "yours", app: "", kind: "said" } as const;
  return { find: (form) => (forms.has(form) ? source : undefined) };
}
