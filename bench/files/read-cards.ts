import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** What is compared of a card. */
export interface Card {
  readonly name: string;
  readonly family: string;
  readonly given: string;
  readonly emails: readonly string[];
  readonly phones: readonly string[];
  readonly notes: readonly string[];
  readonly birthday: string;
  readonly organization: string;
  readonly cities: readonly string[];
}

const SCRIPT = `
import sys, json, vobject
def text(value):
    return ", ".join(text(one) for one in value) if isinstance(value, list) else str(value)
def read(card):
    every = lambda name: [text(one.value) for one in card.contents.get(name, [])]
    one = lambda name: (every(name) or [""])[0]
    n = card.contents["n"][0].value if "n" in card.contents else None
    org = [x for x in (card.contents["org"][0].value if "org" in card.contents else []) if x]
    return dict(name=one("fn").strip(), family=text(n.family).strip() if n else "", given=text(n.given).strip() if n else "",
        emails=every("email"), phones=every("tel"), notes=every("note"), birthday=one("bday"), organization=text(org),
        cities=[text(a.value.city) for a in card.contents.get("adr", [])])
data = open(sys.argv[1], "rb").read()
try:
    data = data.decode("utf-8-sig")
except UnicodeDecodeError:
    data = data.decode("latin-1")
print(json.dumps([read(card) for card in vobject.readComponents(data, allowQP=True) if card.name == "VCARD"]))
`;

/** The cards of a file as vobject reads them (the Debian packages python3-vobject and what it needs), or why it does not. */
export async function readCards(file: string): Promise<{ readonly cards?: readonly Card[]; readonly error?: string }> {
  const PYTHONPATH = "/usr/lib/python3/dist-packages";
  try {
    const run = await promisify(execFile)("/usr/bin/python3", ["-c", SCRIPT, file], { env: { PYTHONPATH } });
    const cards: readonly Card[] = JSON.parse(run.stdout);
    return { cards: cards.map((card) => ({ ...card, phones: strip(card.phones), emails: strip(card.emails) })) };
  } catch (error) {
    const text = error instanceof Error && "stderr" in error ? String(error.stderr) : String(error);
    return { error: text.trim().split("\n").at(-1)?.slice(0, 200) ?? "" };
  }
}

function strip(all: readonly string[]): string[] {
  return all.map((one) => one.trim().replace(/^(?:tel|mailto):/i, ""));
}
