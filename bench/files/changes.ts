import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCalendarIntegration } from "../../src/apps/calendar/calendar-integration.ts";
import { parseCalendarFile } from "../../src/apps/calendar/ics/calendar-file.ts";
import { readTitle } from "../../src/apps/calendar/ics/describe-event.ts";
import { createContactsIntegration } from "../../src/apps/contacts/contacts-integration.ts";
import { ServiceError } from "../../src/service/service-error.ts";
import { createRunner } from "../../test/apps/run-action.ts";
import { listFiles } from "./packages.ts";
import type { Verdict } from "./verdict.ts";

/** Things of one file that are changed. */
const MAX_TARGETS = 5;
const STAMPS = ["DTSTAMP", "LAST-MODIFIED", "SEQUENCE", "REV"];

interface Change {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Names of the lines that may differ, one of each; none where a whole block goes. */
  readonly names: readonly string[];
}
const OF_EVENTS: readonly Change[] = [
  { tool: "update_event", args: { whole_series: true, new_title: "Ü, new" }, names: ["SUMMARY"] },
  { tool: "update_event", args: { whole_series: true, location: "Room; 2" }, names: ["LOCATION"] },
  { tool: "update_event", args: { whole_series: true, description: "Ü\n, new" }, names: ["DESCRIPTION"] },
  { tool: "answer_invitation", args: { whole_series: true, answer: "accepted" }, names: ["ATTENDEE"] },
  { tool: "delete_event", args: { whole_series: true }, names: [] },
];
const OF_CARDS: readonly Change[] = [
  { tool: "update_contact", args: { note: "Ü, new" }, names: ["NOTE"] },
  { tool: "update_contact", args: { family_name: "Änders" }, names: ["N"] },
  { tool: "update_contact", args: { birthday: "--04-12" }, names: ["BDAY"] },
  { tool: "delete_contact", args: {}, names: [] },
];

/** Every event and card of a suite changed in each way: whatever a change does not name is as it was. */
export async function judgeChanges(folder: string): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const file of await listFiles(folder, /\.(?:ics|vcs|vcf)$/))
    if (!/\/zoneinfo\//.test(file)) verdicts.push(await judgeFile(file));
  return verdicts;
}

async function judgeFile(file: string): Promise<Verdict> {
  const bytes = await readFile(file);
  const isCard = file.endsWith(".vcf");
  const folder = await mkdtemp(join(tmpdir(), "svc-changes-"));
  const place = join(folder, isCard ? "c/a.vcf" : "c/a.ics");
  await mkdir(join(folder, "c"));
  const settings = { folder, address: "ana@example.org" };
  const run = createRunner(isCard ? createContactsIntegration() : createCalendarIntegration(), { settings });
  const [differences, refusals]: [string[], string[]] = [[], []];
  try {
    await writeFile(place, bytes);
    const targets = isCard ? await listCards(run) : listEvents(bytes);
    if (targets.length === 0) refusals.push("there is nothing in it to change");
    for (const target of targets.slice(0, MAX_TARGETS))
      for (const { tool, args, names } of isCard ? OF_CARDS : OF_EVENTS) {
        await writeFile(place, bytes);
        const error = await run(tool, { ...target, ...args }).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        const after = await readFile(place).catch(() => undefined);
        const isRefused = error instanceof ServiceError && error.status < 500;
        if (isRefused) refusals.push(error.message);
        const why = isRefused
          ? after?.equals(bytes)
            ? undefined
            : "is changed though it was refused"
          : checkAll(bytes, after, names);
        if (error !== undefined && !isRefused) differences.push(`${tool}: ${String(error).slice(0, 150)}`);
        else if (why !== undefined)
          differences.push(`${tool} ${JSON.stringify(args)} of ${JSON.stringify(target)}: ${why}`);
      }
  } finally {
    await rm(folder, { recursive: true });
  }
  const said = [...new Set(refusals)].join(" ").slice(0, 300);
  return differences.length === 0 && said !== "" && /nothing in it/.test(said)
    ? { file, differences, refused: said }
    : { file, differences };
}

async function listCards(run: ReturnType<typeof createRunner>) {
  const { contacts } = await run("search", { query: "", offset: 0, limit: MAX_TARGETS });
  return contacts.map(({ contact_id, name }: { contact_id: string; name: string }) => ({ contact_id, name }));
}

function listEvents(bytes: Buffer) {
  try {
    const { series } = parseCalendarFile(bytes);
    return series.flatMap(({ mark, master, overrides }) => {
      const [event] = master === undefined ? overrides : [master];
      const id = series.length > 1 ? `c/a.ics#${mark}` : "c/a.ics";
      return event === undefined ? [] : [{ event_id: id, title: readTitle(event) }];
    });
  } catch {
    return [];
  }
}

/** Why a file is not as it should be after a change of lines with these names, or of one block without them. */
function checkAll(before: Buffer, after: Buffer | undefined, names: readonly string[]): string | undefined {
  const [old, now] = [splitPieces(before), splitPieces(after ?? Buffer.alloc(0))];
  if (names.length === 0 && after === undefined) {
    const others = old.filter((piece) => /^BEGIN:(?:VTODO|VJOURNAL|VFREEBUSY)/i.test(piece)).length;
    const cards = old.filter((piece) => /^BEGIN:VCARD/i.test(piece)).length;
    return others > 0 || cards > 1 ? "the whole file is gone" : undefined;
  }
  if (names.length === 0) {
    // One block is gone, and what is left is the rest in its order.
    let at = 0;
    const gone = old.filter((piece) => {
      const stays = now[at] === piece;
      if (stays) at += 1;
      return !stays;
    });
    const ends = gone.filter((piece) => /^END:(?:VEVENT|VCARD)/i.test(piece)).length;
    if (at !== now.length) return `a line is new: ${now[at]?.slice(0, 60)}`;
    return ends > 0 ? undefined : "nothing is gone";
  }
  const isNamed = (piece: string) => [...names, ...STAMPS].includes(readPieceName(piece));
  const others = (pieces: readonly string[]) => pieces.filter((piece) => !isNamed(piece)).join("");
  if (others(old) !== others(now)) return "another line differs";
  for (const name of [...names, ...STAMPS]) {
    const own = (pieces: readonly string[]) => pieces.filter((piece) => readPieceName(piece) === name);
    const [was, is] = [own(old), own(now)];
    const gone = was.filter((piece) => !is.includes(piece)).length;
    if (gone > 1 || is.length > was.length + 1 || is.length < was.length - 1) return `${gone} lines of ${name} differ`;
  }
  return undefined;
}

/** Logical lines with their ends; a character for each byte. */
function splitPieces(bytes: Buffer): string[] {
  const isWide = bytes[0] === 0xff && bytes[1] === 0xfe;
  const text = isWide ? bytes.toString("utf16le") : bytes.toString("latin1");
  const pieces: string[] = [];
  for (const line of text.split(/(?<=\n|\r(?!\n))/)) {
    const last = pieces.at(-1) ?? "";
    const goesOn = /^[^:]*QUOTED-PRINTABLE[^:]*:/i.test(last) && /=\r?\n$/.test(last);
    if (pieces.length > 0 && (/^[ \t]/.test(line) || goesOn)) pieces[pieces.length - 1] = last + line;
    else pieces.push(line);
  }
  return pieces;
}

function readPieceName(piece: string): string {
  const flat = piece.replaceAll(/\r?\n[ \t]/g, "");
  return /^(?:[\w-]+\.)?([\w-]+)[;:]/.exec(flat)?.[1]?.toUpperCase() ?? "";
}
