import { createHash, randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { KEY, type Story } from "./story.ts";

/** A first upload that a person allows, and one that they do not. */
export function tellOfUploads(story: () => Story): void {
  test("an agent reads mail, then a person lets it send an attachment to the drive", async () => {
    const { model, operator, service } = story();
    let reference = "";
    model.play(({ words, results }) => {
      reference = /media attached: (\S+)/.exec(words)?.[1] ?? reference;
      if (results.length === 0) return { tool: "mail_search", args: { query: "is:unread" } };
      return results.length === 1 ? upload(reference) : "Saved.";
    });
    const words = "Read my mail and keep this where we both find it.";
    const turn = await operator.chat(words, { attachments: [ATTACHMENT] });
    const card = await operator.answerCard("allow-once");
    expect(await turn.done).toBe("Saved.");
    expect(card).toMatchObject({ pluginId: expect.stringMatching(/^svc/), toolName: "drive_upload_file" });
    expect(String(card.description)).toContain("quote.pdf, application/pdf, 200,009 bytes");
    const [mail] = model.requests.at(-1)?.results ?? [];
    expect(mail).toContain("The quote for the terrace");
    expect(await service.effects()).toMatchObject([{ toolName: "drive_upload_file", status: "succeeded" }]);
    expect(await readDrive(service.dataDir)).toEqual([["quote.pdf", sha256(ATTACHMENT.bytes)]]);
  });

  test("another one, declined by the person, changes nothing", async () => {
    const { model, operator, service } = story();
    const before = await service.effects();
    model.play(({ words, results }) =>
      results.length === 0 ? upload(/media attached: (\S+)/.exec(words)?.[1] ?? "", "second.pdf") : "Not saved.",
    );
    const turn = await operator.chat("Keep this too.", { sessionKey: "declined", attachments: [ATTACHMENT] });
    await operator.answerCard("deny");
    expect(await turn.done).toBe("Not saved.");
    expect(await service.effects()).toEqual(before);
    expect(await readDrive(service.dataDir)).toHaveLength(1);
    expect(model.requests.at(-1)?.results.at(-1)).toMatch(/declined|denied/i);
  });

  test("no prompt, log or transcript holds the key", () => {
    const { gateway, model, operator } = story();
    for (const { raw } of [...model.requests, ...model.asides]) expect(raw).not.toMatch(KEY);
    expect(gateway.output()).not.toMatch(KEY);
    expect(JSON.stringify(operator.events)).not.toMatch(KEY);
  });
}

const ATTACHMENT = {
  fileName: "quote.pdf",
  mimeType: "application/pdf",
  bytes: Buffer.concat([Buffer.from("%PDF-1.7\n"), randomBytes(200_000)]),
};

function upload(reference: string, name = "quote.pdf") {
  return { tool: "drive_upload_file", args: { folder: "Quotes", file: { s3key: reference, name } } };
}

/** Names and digests of the files in the folder that the agent saves to. */
async function readDrive(dataDir: string): Promise<[string, string][]> {
  const folder = join(dataDir, "drive/Quotes");
  const names = await readdir(folder);
  return Promise.all(
    names.map(async (name): Promise<[string, string]> => [name, sha256(await readFile(join(folder, name)))]),
  );
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
