import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createMailParser } from "../../src/apps/mail/parsing/mail-parser.ts";
import { listFiles } from "./packages.ts";
import { compare, flatten, type Verdict } from "./verdict.ts";

const parser = createMailParser();

async function readOurs(file: string) {
  const bytes = await readFile(file);
  const call = { id: "a", signal: AbortSignal.timeout(60_000), text: { from: 0, length: 100_000 } };
  return (await parser.parse(bytes, call)).message;
}

/** Letters alone: readers differ in how they show what lies between them. */
function toLetters(text: string): string {
  return flatten(text.replaceAll(/[([<]?(?:https?|mailto):[^\s)\]>]*[)\]>]?/g, "")).replaceAll(/[^\p{L}\p{N}]/gu, "");
}

/** A name is shown without the folders before it. */
function isName(ours: string, theirs: string): boolean {
  const [last = ""] = theirs
    .replace(/^qq\{(.*)\}$/, "$1")
    .split(/[\\/]/)
    .slice(-1);
  return toLetters(ours) === toLetters(last);
}

/** Names stand before addresses or behind them. */
function sortWords(text: string): string {
  return (text.match(/[^\s<>()",]+/g) ?? []).toSorted().join(" ");
}

/** Every message of a suite beside what mailparser makes of it. */
export function judgeBesideMailparser(
  ending: RegExp,
  below = "",
): (folder: string, readers: string) => Promise<Verdict[]> {
  return async (folder, readers) => {
    const { simpleParser } = createRequire(join(readers, "package.json"))("mailparser");
    const verdicts: Verdict[] = [];
    for (const file of await listFiles(join(folder, below), ending)) {
      const ours = await readOurs(file).catch((error: unknown) => String(error));
      if (typeof ours === "string") {
        verdicts.push({ file, differences: [], refused: ours });
        continue;
      }
      const theirs = await simpleParser(await readFile(file));
      const text: string = theirs.text ?? "";
      const [a, b] = [toLetters(ours.text), toLetters(text)];
      const names: string[] = theirs.attachments.map((one: { filename?: string }) => one.filename ?? "");
      const from: string = theirs.from?.text ?? "";
      const differences = [
        ...compare("subject", ours.subject, theirs.subject),
        ...compare("from", toLetters(ours.from), toLetters(from)),
        ...compare(
          "date",
          isTime(ours.date) ? ours.date : "",
          isTime(theirs.date) ? new Date(theirs.date).toISOString() : "",
        ),
        ...compare("attachments", String(ours.attachments.length), String(names.length)),
        ...names
          .filter((name) => name !== "" && !ours.attachments.some((one) => isName(one.name, name)))
          .map((name) => `attachment ${name} is missing`),
        ...(a === b ? [] : compare("text", a, b)),
      ];
      const said = ours.notes.join(" ");
      verdicts.push(
        differences.length > 0 && said !== "" ? { file, differences, refused: said } : { file, differences },
      );
    }
    return verdicts;
  };
}

function isTime(time: string | Date | undefined): time is string | Date {
  return time !== undefined && !Number.isNaN(new Date(time).getTime());
}

/** The suite of MIME-tools lists the parts of its messages, with types, names and sizes. */
export async function judgeMimeTools(folder: string): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const file of await listFiles(folder, /\.msg$/)) {
    const known = file.replace(/\.msg$/, ".ref");
    if (!existsSync(known)) continue;
    const ours = await readOurs(file);
    const text = await readFile(known, "utf8");
    const each = [...text.matchAll(/"(Part_[\d.]+|Msg)" => \{(.*?)\n {2}\}/gs)].map(([, part = "", body = ""]) => {
      const get = (name: string) =>
        new RegExp(`"${name}" => "?(.*?)"?,?(?:\\n|$)`).exec(body)?.[1]?.replaceAll(/\\([\\@$"])/g, "$1");
      return {
        part,
        type: get("Type"),
        name: get("Filename"),
        size: get("Size"),
        subject: get("Subject"),
        from: get("From"),
      };
    });
    const message = each.find((one) => one.part === "Msg");
    const files = each.filter((one) => one.part !== "Msg" && one.name !== undefined);
    const differences = [
      ...(message?.subject === undefined ? [] : compare("subject", ours.subject, message.subject)),
      ...(message?.from === undefined ? [] : compare("from", sortWords(ours.from), sortWords(message.from))),
      ...files
        .filter(({ name = "" }) => !ours.attachments.some((one) => isName(one.name, name)))
        .map(
          ({ name, type }) =>
            `attachment ${name} (${type}) is missing of ${ours.attachments.map((one) => one.name).join(", ")}`,
        ),
      ...files.flatMap(({ name = "", size }) => {
        const sizes = ours.attachments
          .filter((one) => toLetters(one.name) === toLetters(name))
          .map((one) => String(one.size));
        return sizes.length === 0 || sizes.includes(size ?? "")
          ? []
          : [`${name}: ours has ${sizes.join(" or ")} bytes, theirs ${size}`];
      }),
    ];
    const said = ours.notes.join(" ");
    verdicts.push(differences.length > 0 && said !== "" ? { file, differences, refused: said } : { file, differences });
  }
  return verdicts;
}
