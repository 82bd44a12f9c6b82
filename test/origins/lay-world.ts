import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { World } from "./read-traces.ts";

/** Lays a world into the data folder of a service: mail, calendar, contacts, drive, notes and feeds. */
export async function layWorld(dataDir: string, world: World, { now }: { readonly now: number }): Promise<void> {
  const put = async (path: string, content: string) => {
    const place = join(dataDir, path);
    await mkdir(dirname(place), { recursive: true });
    await writeFile(place, content);
  };
  for (const folder of new Set(world.mails.map((mail) => mail.folder))) {
    for (const part of ["cur", "new", "tmp"]) await mkdir(join(dataDir, toMaildir(folder), part), { recursive: true });
  }
  for (const mail of world.mails) {
    const name = `${Date.parse(mail.date) / 1000}.${mail.id}:2,${mail.read ? "S" : ""}`;
    await put(`${toMaildir(mail.folder)}/cur/${name}`, writeMail(mail));
  }
  for (const event of world.events) await put(`calendar/${event.id}`, writeEvent(event));
  for (const contact of world.contacts.filter((one) => !one.made_before)) {
    await put(`contacts/${contact.id}`, writeContact(contact));
  }
  for (const { path, text } of world.files.filter((one) => !one.made_before)) await put(`drive/${path}`, text);
  for (const { path, text } of world.notes.filter((one) => !one.made_before)) await put(`notes/${path}`, text);
  for (const { url, title, entries } of world.feeds) {
    const id = hash(url);
    const added = new Date(now).toISOString();
    await put(`feeds/${id}.feed.json`, JSON.stringify({ url, title, added }));
    const kept = entries.map((entry) => ({ ...entry, id: `${id}-${hash(entry.id)}`, found: added }));
    await put(`feeds/${id}.entries.json`, JSON.stringify({ checkedAt: now, entries: kept }));
  }
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}

function toMaildir(folder: string): string {
  return folder === "INBOX" ? "mail" : `mail/.${folder.replaceAll("/", ".")}`;
}

function encodeWord(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: everything that is not ASCII is encoded
  return /^[\x00-\x7f]*$/.test(text) ? text : `=?utf-8?B?${Buffer.from(text).toString("base64")}?=`;
}

function encodePerson(person: string): string {
  const match = /^(.*?)\s*<([^<>]+)>$/.exec(person);
  return match === null ? person : `${encodeWord(match[1] ?? "")} <${match[2]}>`;
}

function writePart(type: string, text: string, more: readonly string[] = []): string {
  const body = Buffer.from(text).toString("base64").replaceAll(/.{76}/g, "$&\r\n");
  return [`Content-Type: ${type}`, "Content-Transfer-Encoding: base64", ...more, "", body, ""].join("\r\n");
}

function writeMail(mail: World["mails"][number]): string {
  const { from, to, cc, reply_to, subject, date, text, html, attachments } = mail;
  const head = [
    `From: ${encodePerson(from)}`,
    `To: ${to.map(encodePerson).join(", ")}`,
    ...(cc.length === 0 ? [] : [`Cc: ${cc.map(encodePerson).join(", ")}`]),
    ...(reply_to === undefined ? [] : [`Reply-To: ${encodePerson(reply_to)}`]),
    `Subject: ${encodeWord(subject)}`,
    `Date: ${new Date(date).toUTCString().replace("GMT", "+0000")}`,
    `Message-ID: <${mail.id}.${Date.parse(date)}@world.example>`,
    "MIME-Version: 1.0",
  ];
  const parts = [
    ...(text === undefined ? [] : [writePart("text/plain; charset=utf-8", text)]),
    ...(html === undefined ? [] : [writePart("text/html; charset=utf-8", html)]),
  ];
  const both = parts.length === 1 ? (parts[0] ?? "") : wrap("alternative", "alt", parts);
  const files = attachments.map(({ name, mimetype, text: content }) =>
    writePart(`${mimetype}; charset=utf-8`, content, [
      `Content-Disposition: attachment; filename="${encodeWord(name)}"`,
    ]),
  );
  return `${head.join("\r\n")}\r\n${files.length === 0 ? both : wrap("mixed", "mix", [both, ...files])}`;
}

function wrap(kind: string, boundary: string, parts: readonly string[]): string {
  const inner = parts.map((part) => `--${boundary}\r\n${part}`).join("\r\n");
  return `Content-Type: multipart/${kind}; boundary="${boundary}"\r\n\r\n${inner}\r\n--${boundary}--\r\n`;
}

function escapeText(text: string): string {
  return text.replaceAll(/[\\,;]/g, "\\$&").replaceAll("\n", "\\n");
}

function writeEvent(event: World["events"][number]): string {
  const { id, title, start, end, zone, location, description, status, organizer, attendees, rrule } = event;
  const isDay = /^\d{4}-\d\d-\d\d$/.test(start);
  const digits = (time: string) => time.replaceAll(/[-:]/g, "").replace(/Z$/, "");
  const toTime = (name: string, time: string) => {
    if (isDay) return `${name};VALUE=DATE:${digits(time)}`;
    const full = `${digits(time)}00`.slice(0, 15);
    return time.endsWith("Z") || zone === undefined ? `${name}:${full}Z` : `${name};TZID=${zone}:${full}`;
  };
  const lastDay = new Date(Date.parse(`${end.slice(0, 10)}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
  const optional = (name: string, text: string | undefined) =>
    text === undefined ? [] : [`${name}:${escapeText(text)}`];
  return [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//world//EN",
    "BEGIN:VEVENT",
    `UID:${id.replaceAll(/[^\w]/g, "-")}@world.example`,
    "DTSTAMP:20261101T000000Z",
    toTime("DTSTART", start),
    toTime("DTEND", isDay ? lastDay : end),
    `SUMMARY:${escapeText(title)}`,
    ...optional("LOCATION", location),
    ...optional("DESCRIPTION", description),
    ...(status === undefined ? [] : [`STATUS:${status.toUpperCase()}`]),
    ...(organizer === undefined ? [] : [`ORGANIZER:mailto:${organizer}`]),
    ...attendees.map((one) => `ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:${one}`),
    ...(rrule === undefined ? [] : [`RRULE:${rrule}`]),
    "END:VEVENT",
    "END:VCALENDAR",
    "",
  ].join("\r\n");
}

function writeContact({ id, name, emails, phones, organization, note }: World["contacts"][number]): string {
  return [
    "BEGIN:VCARD",
    "VERSION:3.0",
    `UID:${id.replaceAll(/[^\w]/g, "-")}`,
    `FN:${escapeText(name)}`,
    `N:${escapeText(name)};;;;`,
    ...emails.map((one) => `EMAIL:${one}`),
    ...phones.map((one) => `TEL:${one}`),
    ...(organization === undefined ? [] : [`ORG:${escapeText(organization)}`]),
    ...(note === undefined ? [] : [`NOTE:${escapeText(note)}`]),
    "END:VCARD",
    "",
  ].join("\r\n");
}
