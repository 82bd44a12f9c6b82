import { collectForms } from "../../../src/shared/seen/collect-forms.ts";
import type { Evidence, SeenSource } from "../../../src/shared/seen/evidence.ts";
import { judgeCall } from "../../../src/shared/seen/judge-call.ts";
import { createEvidence } from "../../../src/shared/seen/memory-evidence.ts";
import type { Origin } from "../../../src/shared/wire/origin.ts";
import type { Trace } from "./trace-data.ts";

const LIMIT = 200_000;

/** Judges the write of a trace with a simple model of whose its world is. */
export function judgeTrace(trace: Trace): Origin[] {
  const { owner_text: words, world, write } = trace;
  const said = createEvidence({ limit: LIMIT });
  said.note({ source: source("words", "yours"), content: words ?? "" });
  const sent = world.mails.filter((mail) => mail.from.includes(world.owner.address));
  const addresses = [
    world.owner.address,
    ...world.contacts.filter(({ made_before }) => !made_before).flatMap(({ emails }) => emails),
    ...sent.flatMap(({ to, cc }) => [...to, ...cc]),
  ];
  const feeds = world.feeds.map(({ url }) => new URL(url).hostname);
  return judgeCall(
    { args: write.arguments, files: writtenFiles(trace) },
    {
      said,
      own: noteOwn(trace, true),
      seen: noteSeen(trace),
      carried: findCarried(trace),
      known: { addresses, hosts: feeds },
    },
  );
}

function source(kind: string, whose: SeenSource["whose"], by?: string): SeenSource {
  return { app: "test", kind, whose, ...(by !== undefined && { by }) };
}

const isQuoted = (line: string) => line.startsWith(">");

function noteOwn({ world }: Trace, withMade: boolean): Evidence {
  const own = createEvidence({ limit: LIMIT });
  const kept = <Thing extends { made_before?: unknown }>(things: readonly Thing[]) =>
    things.filter(({ made_before }) => withMade || !made_before);
  const isOwn = ({ organizer }: { organizer?: string | undefined }) => !organizer || organizer === world.owner.address;
  own.note({ source: source("account", "yours"), content: world.owner });
  for (const contact of kept(world.contacts)) own.note({ source: source("contact", "yours"), content: contact });
  for (const event of world.events.filter(isOwn)) own.note({ source: source("event", "yours"), content: event });
  for (const note of kept(world.notes)) own.note({ source: source("note", "yours"), content: note });
  for (const file of kept(world.files)) own.note({ source: source("file", "yours"), content: file });
  for (const { url, title } of world.feeds) own.note({ source: source("feed", "yours"), content: { url, title } });
  for (const mail of world.mails.filter(({ from }) => from.includes(world.owner.address))) {
    const text = (mail.text ?? "").split("\n").filter((line) => !isQuoted(line));
    own.note({ source: source("mail", "yours"), content: { ...mail, text: text.join("\n"), date: undefined } });
  }
  return own;
}

function noteSeen({ world, reads, before }: Trace): Evidence {
  const seen = createEvidence({ limit: LIMIT });
  for (const mail of world.mails) {
    const own = mail.from.includes(world.owner.address);
    const quoted = (mail.text ?? "").split("\n").filter(isQuoted).join("\n");
    const content = own ? quoted : { ...mail, to: mail.to.filter((address) => address !== world.owner.address) };
    seen.note({ source: source(own ? "quoted mail" : "mail", "somebody", mail.from), content });
  }
  for (const event of world.events) {
    if (event.organizer && event.organizer !== world.owner.address) {
      seen.note({ source: source("invitation", "somebody", event.organizer), content: event });
    }
  }
  for (const feed of world.feeds) seen.note({ source: source("feed", "somebody", feed.title), content: feed.entries });
  for (const { tool, result } of [...before, ...reads]) {
    if (result !== undefined) seen.note({ source: source("answer", "somebody", tool), content: result });
  }
  return seen;
}

/** Forms of earlier writes that somebody else's data has and the owner's own had not. */
function findCarried(trace: Trace): Evidence {
  const own = noteOwn(trace, false);
  const seen = noteSeen(trace);
  const carried = new Map<string, SeenSource>();
  for (const call of trace.before) {
    for (const form of collectForms([call.arguments, attachedTexts(trace, call.arguments)])) {
      const from = seen.find(form);
      if (from && !own.find(form)) carried.set(form, from);
    }
  }
  return { find: (form) => carried.get(form) };
}

function attachedTexts(trace: Trace, args: unknown): string[] {
  return [...JSON.stringify(args).matchAll(/"attachment:(\w+)\.(\d+)"/g)].map(
    ([, id, index]) => trace.world.mails.find((mail) => mail.id === id)?.attachments[Number(index)]?.text ?? "",
  );
}

function writtenFiles(trace: Trace): { argument: string; text: string }[] {
  const { file } = trace.write.arguments;
  const key = /"s3key":"(upload:\w+)"/.exec(JSON.stringify(file ?? null))?.[1];
  const texts = [...(key ? [trace.uploads[key]?.text ?? ""] : []), ...attachedTexts(trace, file ?? null)];
  return texts.map((text) => ({ argument: "file", text }));
}
