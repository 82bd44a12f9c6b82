import { CUSTOM_ZONE, ics } from "../../calendar/kit/write-ics.ts";
import type { SharedAccount } from "../../untouched/check-seen-state.ts";
import type { Write } from "../../untouched/check-write.ts";
import type { TestRadicale } from "./start-radicale.ts";

/** Everything of one collection, by paths as `personal/a.ics`. */
export function shareCollection(
  radicale: TestRadicale,
  { settings, collection }: { readonly settings: Record<string, unknown>; readonly collection: string },
): SharedAccount {
  const list = async () => {
    const { text } = await radicale.ask("PROPFIND", `/ana/${collection}/`, undefined, { depth: "1" });
    return [...text.matchAll(/<href>\/ana\/([^<]+\.(?:ics|vcf))<\/href>/g)].map(([, path = ""]) => path).sort();
  };
  const account: SharedAccount = {
    settings,
    async put(path, text) {
      const headers = { "content-type": path.endsWith("ics") ? "text/calendar" : "text/vcard" };
      const done = await radicale.ask(text === undefined ? "DELETE" : "PUT", `/ana/${path}`, text, headers);
      if (done.status >= 300) throw new Error(`${path}: ${done.status} ${done.text}`);
    },
    async fill(things) {
      for (const path of await list()) await account.put(path, undefined);
      for (const [path, text] of things) await account.put(path, text);
    },
    async look() {
      const paths = await list();
      const texts = await Promise.all(paths.map(async (path) => (await radicale.ask("GET", `/ana/${path}`)).text));
      return new Map(paths.map((path, at) => [path, texts[at] ?? ""]));
    },
    meanwhile(touch) {
      radicale.disturb(async ({ method }) => {
        if (method !== "PUT" && method !== "DELETE") return undefined;
        radicale.disturb(() => undefined);
        await touch();
        return undefined;
      });
    },
  };
  return account;
}

/** A card with these lines. */
export const vcard = (uid: string, ...lines: string[]): string =>
  ["BEGIN:VCARD", "VERSION:3.0", `UID:${uid}`, ...lines, "END:VCARD", ""].join("\r\n");

/** The file that a call names comes first. */
function listWrites(
  collection: string,
  files: readonly string[],
  calls: readonly [string, Readonly<Record<string, unknown>>][],
): Write[] {
  const ending = collection === "people" ? "vcf" : "ics";
  const all = files.map((text, at) => [`${collection}/${at}.${ending}`, text] as const);
  return calls.map(([id, args]) => {
    const named = args.event_id ?? args.contact_id;
    return {
      title: `${id} with ${JSON.stringify(args)}`,
      roll: () => ({
        things: new Map(all.toSorted(([one], [other]) => Number(other === named) - Number(one === named))),
        call: (run) => run(id, { ...args }),
        check: () => undefined,
      }),
    };
  });
}

const SERIES = [
  "UID:a",
  "SUMMARY:A",
  "DTSTART:20261130T090000Z",
  "DTEND:20261130T100000Z",
  "RRULE:FREQ=DAILY;COUNT=9",
  "ORGANIZER:mailto:gus@example.org",
  "ATTENDEE:mailto:ana@example.org",
];
/** What a server may write in another way. */
const RICH_EVENT = [
  "UID:r",
  "SUMMARY;LANGUAGE=en:Rich\\, with; all",
  "DTSTART;TZID=Office Hours East:20261130T090000",
  "DTEND;TZID=Office Hours East:20261130T100000",
  "LOCATION:Here",
  "DESCRIPTION:a\\nb \\; c\\, d and text that is long enough to be folded by whatever program writes it",
  'ATTENDEE;CN="Gus, M";ROLE=REQ-PARTICIPANT:mailto:gus@example.org',
  "ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:ana@example.org",
  "CATEGORIES:a,b\\,c",
  "X-ODD;A=b:as it, is;",
  "BEGIN:VALARM",
  "ACTION:DISPLAY",
  "DESCRIPTION:x",
  "TRIGGER:-PT5M",
  "END:VALARM",
];
const a = { event_id: "work/0.ics", title: "A" };
const one = { ...a, instance: "2026-12-02T09:00:00Z" };
const all = { ...a, whole_series: true };
const rich = { event_id: "work/2.ics", title: "Rich, with; all" };
const moved = { weekday: "Tuesday", start: "2026-12-01T09:00", zone: "Europe/Berlin" };

/** Ways to write into the calendar "work". */
export const CALENDAR_WRITES: Write[] = listWrites(
  "work",
  [
    ics(SERIES),
    ics(["UID:b", "SUMMARY:B", "DTSTART:20261130T090000Z"]),
    ics(CUSTOM_ZONE, ["BEGIN:VEVENT", "DTSTAMP:20260101T000000Z", ...RICH_EVENT, "END:VEVENT"]),
  ],
  [
    ["update_event", { ...all, ...moved }],
    ["update_event", { ...one, ...moved }],
    ["update_event", { ...all, location: "x" }],
    ["delete_event", all],
    ["delete_event", one],
    ["answer_invitation", { ...all, answer: "accepted" }],
    ["create_event", { title: "New", weekday: "Friday", start: "2026-12-04", end: "2026-12-04", calendar: "work" }],
    ["update_event", { ...rich, description: "Ü\n, new" }],
    ["update_event", { ...rich, new_title: "Title: new" }],
    ["answer_invitation", { ...rich, answer: "tentative" }],
    ["delete_event", rich],
  ],
);

const gus = { contact_id: "people/0.vcf", name: "Gus" };

/** Ways to write into the address book "people". */
export const CONTACT_WRITES: Write[] = listWrites(
  "people",
  [
    vcard(
      "gus",
      "FN:Gus",
      "N:;Gus;;;",
      "NOTE:old\\, and\\nlong enough to be folded by whatever program it is that writes this line down",
      "PHOTO;ENCODING=b;TYPE=JPEG:/9j/4AAQSkZJRgABAQ==",
      "item1.EMAIL;TYPE=INTERNET:gus0@example.org",
      "item1.X-ABLabel:_$!<Home>!$_",
      "ORG:Example;Sales",
      "CATEGORIES:a,b\\,c",
    ),
    vcard("hana", "FN:Hana", "N:;Hana;;;"),
  ],
  [
    ["update_contact", { ...gus, note: "new" }],
    ["update_contact", { ...gus, emails: [{ address: "gus@example.org" }] }],
    ["update_contact", { ...gus, new_name: "Gustav", organization: "Other; than, that" }],
    ["delete_contact", gus],
    ["create_contact", { name: "New" }],
  ],
);
