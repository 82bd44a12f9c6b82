import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createContactsIntegration } from "../../src/apps/contacts/contacts-integration.ts";
import { createRunner } from "../../test/apps/run-action.ts";
import { listFiles } from "./packages.ts";
import { type Card, readCards } from "./read-cards.ts";
import { compare, type Verdict } from "./verdict.ts";

interface Read {
  readonly cards: readonly Card[];
  readonly notes: readonly string[];
}

/** Every card of a file as `read_contact` shows it. */
async function readOurs(file: string): Promise<Read> {
  const folder = await mkdtemp(join(tmpdir(), "svc-cards-"));
  try {
    await mkdir(join(folder, "p"));
    await writeFile(join(folder, "p/a.vcf"), await readFile(file));
    const run = createRunner(createContactsIntegration(), { settings: { folder } });
    const { contacts, not_shown: notShown = [] } = await run("search", { query: "", offset: 0, limit: 200 });
    const cards: Card[] = [];
    for (const { contact_id: id } of contacts) {
      const one = await run("read_contact", { contact_id: id });
      cards.push({
        name: one.name,
        family: one.family_name ?? "",
        given: one.given_name ?? "",
        emails: (one.emails ?? []).map(({ address }: { address: string }) => address),
        phones: (one.phones ?? []).map(({ number }: { number: string }) => number),
        notes: [...(one.note === undefined ? [] : [one.note]), ...(one.further?.note ?? [])],
        birthday: one.birthday ?? "",
        organization: one.organization ?? "",
        cities: (one.addresses ?? []).map(({ city = "" }: { city?: string }) => city).filter(Boolean),
      });
    }
    return { cards, notes: notShown.map(({ why }: { why: string }) => why) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

function judge(file: string, ours: Read, theirs: readonly Card[]): Verdict {
  const count = compare("cards", String(ours.cards.length), String(theirs.length));
  const list = (all: readonly string[]) =>
    all
      .map((one) => one.trim())
      .filter(Boolean)
      .toSorted()
      .join(" | ");
  const sort = (all: readonly Card[]) =>
    all.toSorted((a, b) => (JSON.stringify([a.name, a.emails]) < JSON.stringify([b.name, b.emails]) ? -1 : 1));
  const [mine, known] = [sort(ours.cards), sort(theirs)];
  const each = known.flatMap((card, index) => {
    const own = mine[index];
    if (own === undefined || count.length > 0) return [];
    return [
      ...(card.name === "" ? [] : compare(`${index + 1} name`, own.name, card.name)),
      ...compare(`${index + 1} family name`, own.family, card.family),
      ...compare(`${index + 1} given name`, own.given, card.given),
      ...compare(`${index + 1} emails`, list(own.emails), list(card.emails)),
      ...compare(`${index + 1} phones`, list(own.phones), list(card.phones)),
      ...compare(`${index + 1} notes`, list(own.notes), list(card.notes)),
      ...compare(
        `${index + 1} birthday`,
        own.birthday.replaceAll("-", "").slice(0, 8),
        card.birthday.replaceAll("-", "").slice(0, 8),
      ),
      ...compare(`${index + 1} organization`, own.organization, card.organization),
      ...compare(`${index + 1} cities`, list(own.cities), list(card.cities)),
    ];
  });
  const differences = [...count, ...each];
  const said = [...new Set(ours.notes)].join(" ");
  return differences.length > 0 && said !== "" ? { file, differences, refused: said } : { file, differences };
}

/** Every file of a suite beside what vobject of Debian makes of it; of KContacts, beside what it writes itself for each. */
export async function judgeCards(folder: string): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const file of await listFiles(folder, /\.vcf$/)) {
    const known = existsSync(`${file}.ref`) ? `${file}.ref` : file;
    const theirs = await readCards(known);
    const ours = await readOurs(file);
    const refused = `the other reader: ${theirs.error}; ours: ${ours.cards.length} cards. ${ours.notes.join(" ")}`;
    verdicts.push(theirs.cards === undefined ? { file, differences: [], refused } : judge(file, ours, theirs.cards));
  }
  return verdicts;
}
