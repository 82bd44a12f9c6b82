import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { TestService } from "../../../../../src/testing.ts";
import { openScreen } from "../../../../hostile/terminal-screen.ts";
import { openTestSession, sayNo } from "../../../../plugin/calls/open-test-session.ts";
import { attach } from "../../../../service/files/envelope.ts";
import { execute } from "../../../../service/http-calls.ts";
import { measureOverflow } from "../../chromium.ts";
import type { CardCall } from "./card-call.ts";
import { seeScreen } from "./see-screen.ts";

const WINDOW = { columns: 80, rows: 24 };
/** Begins what a terminal shows of a row of a card: a label or none, and the gutter. */
const GUTTER = /^(.{9}) │ /;

/** Has each call asked about in a terminal of 80 by 24; words that its screen has not, by their calls. */
export async function lookInTerminal(
  service: TestService,
  calls: readonly CardCall[],
  now: () => number = Date.now,
): Promise<string[]> {
  const session = await openTestSession(service, { answer: sayNo, now });
  const missing: string[] = [];
  for (const call of calls) {
    const { name, tool, file, args } = call;
    const path = file && join(session.media, file.name);
    if (path !== undefined) await writeFile(path, file?.text ?? "");
    const withFile = file && { [file.field]: file.field === "file" ? path : [path] };
    const outcome = await session.call({ callId: name, toolName: tool, arguments: { ...args, ...withFile } });
    const screen = await openScreen(session.asked.pop() ?? expect.fail(`${name}: ${JSON.stringify(outcome)}`), WINDOW);
    const rows = screen.look();
    screen.close();
    await keepShot(`${name}.terminal.txt`, (to) => writeFile(to, rows.join("\n")));
    const text = rows
      .map((row) => row.replace(GUTTER, "$1 ").trim())
      .join(" ")
      .replaceAll(/\s+/g, " ");
    const choices = ["[a]pprove", "[d]ecline"].filter((choice) => !text.includes(choice));
    missing.push(...findMissing(call, text, choices));
  }
  return missing;
}

/** Has each call wait in the inbox, and opens its page; words that are not seen without scrolling, and buttons out of reach. */
export async function lookOnPage(service: TestService, calls: readonly CardCall[], page: Page): Promise<string[]> {
  const missing: string[] = [];
  for (const call of calls) {
    const { json } = await execute(service, call.tool, writeBody(call));
    const id = json.error?.approval?.id ?? expect.fail(`${call.name}: ${JSON.stringify(json)}`);
    await page.goto(`${service.url}/inbox/${id}`);
    await keepShot(`${call.name}.phone.png`, (path) => page.screenshot({ path }));
    const { text, buttons } = await seeScreen(page);
    const change = [...call.change, ...(call.inInbox ?? [])];
    const absent = ["Approve", "Decline"].filter((button) => !buttons.includes(button));
    const tooWide = (await measureOverflow(page)) > 0 ? ["what is beyond the right edge"] : [];
    missing.push(...findMissing({ ...call, change }, text, [...absent, ...tooWide]));
  }
  return missing;
}

function writeBody({ args, file }: CardCall) {
  if (file === undefined) return { arguments: args };
  const { name, text, field } = file;
  const mimetype = name.endsWith(".pdf") ? "application/pdf" : "text/plain";
  const sent = { name, mimetype, s3key: "first" };
  return {
    arguments: { ...args, [field]: field === "file" ? sent : [sent] },
    files: [attach("first", Buffer.from(text), { name, mimetype })],
  };
}

function findMissing(call: CardCall, text: string, outOfReach: readonly string[]): string[] {
  const words = (["object", "change", "consequence"] as const).flatMap((kind) =>
    call[kind].filter((word) => !text.includes(word)).map((word) => `${kind}: ${word}`),
  );
  return [...words, ...outOfReach].map((one) => `${call.name}: ${one}`);
}

/** `SVC_SHOTS=DIR` keeps what was seen, for people. */
async function keepShot(name: string, write: (path: string) => Promise<unknown>): Promise<void> {
  const folder = process.env.SVC_SHOTS;
  if (folder !== undefined) await write(join(folder, name));
}
