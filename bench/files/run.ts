import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { judgeBesideIcalJs, judgeDays, judgeOldCalendars } from "./calendars.ts";
import { judgeCards } from "./cards.ts";
import { judgeChanges } from "./changes.ts";
import { judgeFeedparser, judgeGofeed, judgeRssParser } from "./feeds.ts";
import { KNOWN } from "./known.ts";
import { judgeBesideMailparser, judgeMimeTools } from "./mails.ts";
import { fetchReaders, fetchSuite, nameSuite, type Suite } from "./packages.ts";
import type { SuiteVerdicts, Verdict } from "./verdict.ts";

/*
 * What the apps make of files that the test suites of others have: `node bench/files/run.ts`, or with some of the kinds
 * feeds, calendars, cards and mails. The packages are downloaded into a temporary folder, or the one that --home names.
 */

type Judge = (folder: string, readers: string) => Promise<readonly Verdict[]>;
const KINDS: Readonly<Record<string, readonly (readonly [Suite, Judge])[]>> = {
  feeds: [
    [{ debian: "golang-github-mmcdole-gofeed", release: "bookworm" }, judgeGofeed],
    [{ npm: "rss-parser@3.7.0" }, judgeRssParser],
    [{ npm: "feedparser@2.2.0" }, judgeFeedparser],
  ],
  calendars: [
    [{ debian: "kcalcore", release: "bookworm" }, judgeDays],
    [{ debian: "kcalcore", release: "bookworm" }, judgeOldCalendars],
    [{ npm: "icalts@0.0.2" }, judgeBesideIcalJs],
    [{ npm: "ical@0.8.0" }, judgeBesideIcalJs],
    [{ debian: "python3-icalendar" }, judgeBesideIcalJs],
    [{ debian: "libical3", release: "bookworm" }, judgeBesideIcalJs],
    [{ npm: "cozy-ical@1.1.22" }, judgeBesideIcalJs],
  ],
  cards: [
    [{ debian: "kcontacts", release: "trixie" }, judgeCards],
    [{ debian: "ez-vcard", release: "trixie" }, judgeCards],
    [{ debian: "libtext-vcard-perl", release: "bookworm" }, judgeCards],
    [{ npm: "vcard@0.1.0" }, judgeCards],
    [{ npm: "vcard-json@0.5.2" }, judgeCards],
  ],
  changes: [
    [{ debian: "kcalcore", release: "bookworm" }, judgeChanges],
    [{ npm: "icalts@0.0.2" }, judgeChanges],
    [{ npm: "ical@0.8.0" }, judgeChanges],
    [{ debian: "python3-icalendar" }, judgeChanges],
    [{ debian: "libical3", release: "bookworm" }, judgeChanges],
    [{ debian: "kcontacts", release: "trixie" }, judgeChanges],
    [{ debian: "ez-vcard", release: "trixie" }, judgeChanges],
    [{ debian: "libtext-vcard-perl", release: "bookworm" }, judgeChanges],
    [{ npm: "vcard@0.1.0" }, judgeChanges],
    [{ npm: "vcard-json@0.5.2" }, judgeChanges],
  ],
  mails: [
    [{ debian: "libmime-tools-perl", release: "trixie" }, judgeMimeTools],
    [{ debian: "libmime-tools-perl", release: "trixie" }, judgeBesideMailparser(/\.msg$/)],
    [{ debian: "libpython3.11-testsuite" }, judgeBesideMailparser(/^msg_\w+\.txt$/)],
    [{ debian: "mimetic", release: "trixie" }, judgeBesideMailparser(/\.msg$/)],
    [{ npm: "eml-format@0.6.1" }, judgeBesideMailparser(/\.eml$/)],
    [{ npm: "mailparser@0.6.2" }, judgeBesideMailparser(/\.eml$/)],
    [{ npm: "mimemessage@1.0.5" }, judgeBesideMailparser(/^msg\d$/)],
  ],
};
const READERS = ["feedparser@2.6.0", "ical.js@2.2.1", "mailparser@3.14.2"];

const words = process.argv.slice(2);
const home = words.includes("--home") ? (words[words.indexOf("--home") + 1] ?? "") : join(tmpdir(), "svc-bench-files");
await mkdir(home, { recursive: true });
const readers = await fetchReaders(READERS, home);
for (const [kind, suites] of Object.entries(KINDS)) {
  if (words.some((word) => word in KINDS) && !words.includes(kind)) continue;
  for (const [suite, judge] of suites) {
    const folder = await fetchSuite(suite, home);
    if (folder !== undefined) print({ kind, suite: nameSuite(suite), verdicts: await judge(folder, readers) });
  }
}
process.exit(process.exitCode ?? 0);

function print({ kind, suite, verdicts }: SuiteVerdicts): void {
  const known = new Map<string, number>();
  const isMeant = (file: string, line: string) => {
    const found = KNOWN.find((one) => one.file.test(file) && one.line.test(line));
    if (found !== undefined) known.set(found.why, (known.get(found.why) ?? 0) + 1);
    return found !== undefined;
  };
  const left = verdicts.map((one) => ({ ...one, open: one.differences.filter((line) => !isMeant(one.file, line)) }));
  const refused = left.filter((one) => one.refused !== undefined);
  const wrong = left.filter((one) => one.refused === undefined && one.open.length > 0);
  const meant = left.filter((one) => one.refused === undefined && one.open.length === 0 && one.differences.length > 0);
  const right = verdicts.length - refused.length - wrong.length - meant.length;
  console.log(
    `${kind} | ${suite} | tried ${verdicts.length} | right ${right} | other on purpose ${meant.length} | refused or said ${refused.length} | wrong ${wrong.length}`,
  );
  for (const one of refused) console.log(`  said: ${one.file.split("/").slice(-2).join("/")}: ${one.refused}`);
  for (const [why, count] of known) console.log(`  on purpose (${count}): ${why}`);
  for (const one of wrong)
    for (const line of one.open.slice(0, 3)) console.log(`  WRONG ${one.file.split("/").slice(-2).join("/")}: ${line}`);
  if (wrong.length > 0) process.exitCode = 1;
}
