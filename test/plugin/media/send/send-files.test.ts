import { createHash, randomBytes } from "node:crypto";
import {
  appendFile,
  chmod,
  open,
  readdir,
  rename,
  symlink,
  truncate,
  unlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request as send } from "undici";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RequestBody } from "../../../../src/plugin/client/request.ts";
import { PIECE_BYTES } from "../../../../src/plugin/media/open/open-media-file.ts";
import type { InspectedFile } from "../../../../src/plugin/media/send/inspect-files.ts";
import { fillFileArguments } from "../../../../src/plugin/media/send/inspect-files.ts";
import { createFilesBody, readInspected } from "../../../../src/plugin/media/send/send-files.ts";
import { verifies } from "../../../contract/verifies.ts";
import { MD5_COLLISION } from "../../../fixtures/md5-collision.ts";
import { HAS_LINKS } from "../../../suites/this-system.ts";
import { createMediaFolder, type MediaFolder } from "../media-folder.ts";
import { PNG } from "../media-tree.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const digestOf = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

let media: MediaFolder;

beforeEach(async () => {
  media = await createMediaFolder();
});

afterEach(() => media.remove());

async function collect(body: RequestBody): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body.open()) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** The body as anybody would build it, from the bytes in memory. */
function buildNaively(request: object, args: unknown, files: readonly InspectedFile[], bytes: Record<string, Buffer>) {
  const entries = files.map(({ pointer, name, mimetype, reference }) => {
    const content = bytes[reference]!;
    const md5 = createHash("md5").update(content).digest("hex");
    return { pointer, name, mimetype, md5, dataBase64: content.toString("base64") };
  });
  return { arguments: args, ...request, files: entries };
}

describe("the body", () => {
  const around = (size: number) => [-1, 0, 1].map((step) => size + step);
  const SIZES = [1, 2, 3, 4, 5, 6, 7, ...[60, 90, 120, 480, 600, 960].flatMap((kib) => around(kib * KIB)), 25 * MIB];

  test.each(SIZES)(
    "of a file of %i bytes means what the naive one means, and is as long as announced",
    async (size) => {
      verifies("files.plugin-builds-envelope", "attachment.sent-complete");
      const content = randomBytes(size);
      const reference = await media.write("data.custom-type", content);
      const { args, files } = await media.inspect({
        s3key: reference,
        name: 'né"w 写.part',
        mimetype: "application/x-custom",
      });
      const body = createFilesBody({ arguments: args, connectionId: 7, confirmed: true }, files, media.roots);
      const sent = await collect(body);
      expect(sent.length).toBe(body.contentLength);
      expect(body.contentType).toBe("application/json");
      const filled = { files: [{ name: 'né"w 写.part', mimetype: "application/x-custom", s3key: "file-1" }] };
      const naive = buildNaively({ connectionId: 7, confirmed: true }, filled, files, { [reference]: content });
      // Compared as text first: a difference in 35 MB of base64 is nothing to print.
      expect(JSON.stringify(JSON.parse(sent.toString()).files[0].dataBase64 === naive.files[0]?.dataBase64)).toBe(
        "true",
      );
      if (size < MIB) expect(JSON.parse(sent.toString())).toEqual(naive);
    },
  );

  test("holds equal references once and different files each", async () => {
    const [one, two] = [await media.write("1.png", PNG), await media.write("2.txt", "hello")];
    const { args, files } = await media.inspect(one, two, one);
    const body = createFilesBody({ arguments: args }, files, media.roots);
    const sent = JSON.parse((await collect(body)).toString());
    expect(sent.files.map(({ pointer }: { pointer: string }) => pointer)).toEqual(["file-1", "file-2"]);
    expect(sent.arguments.files.map(({ s3key }: { s3key: string }) => s3key)).toEqual(["file-1", "file-2", "file-1"]);
    expect(sent).not.toHaveProperty("confirmed");
    expect(sent).not.toHaveProperty("connectionId");
  });

  test("can be opened again and yields the same bytes", async () => {
    const { args, files } = await media.inspect(await media.write("1.png", PNG));
    const body = createFilesBody({ arguments: args }, files, media.roots);
    expect((await collect(body)).equals(await collect(body))).toBe(true);
  });

  test("does not show where the file lies", async () => {
    const { args, files } = await media.inspect(await media.write("1.png", PNG), "media://inbound/1.png");
    const sent = (await collect(createFilesBody({ arguments: args }, files, media.roots))).toString();
    expect(sent).not.toContain(media.folder);
    expect(sent).not.toContain("inbound");
  });

  test("arguments are filled in a copy, other members stay, and filling twice changes nothing", async () => {
    const { args, files } = await media.inspect({ s3key: await media.write("1.png", PNG), inline: true });
    const filled = fillFileArguments(args, files);
    expect(filled).toEqual({ files: [{ name: "1.png", mimetype: "image/png", s3key: "file-1", inline: true }] });
    expect(fillFileArguments(filled, files)).toEqual(filled);
    expect(JSON.stringify(args)).toContain(JSON.stringify(media.folder).slice(1, -1));
  });
});

test("every byte arrives at a server that reads slowly, of large files and of many small ones", async () => {
  // More small ones than loopback holds, so that some wait in the socket together.
  const small = Array.from({ length: 300 }, (_, index) => 20_000 + index);
  const sizes = [...small, 2.5 * PIECE_BYTES, 1, 2, 3, 40_000, PIECE_BYTES];
  const contents = sizes.map((size) => randomBytes(size));
  const paths = await Promise.all(contents.map((content, index) => media.write(`${index}.bin`, content)));
  const { args, files } = await media.inspect(...paths);
  const received: Buffer[] = [];
  await using server = createServer(async (request, response) => {
    for await (const chunk of request) {
      // Nothing for a while, then little by little.
      await sleep(received.push(chunk) === 1 ? 500 : 1);
    }
    response.end("{}");
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const agent = new Agent();
  const { contentType, open: openBody } = createFilesBody({ arguments: args }, files, media.roots);
  const { port } = server.address() as AddressInfo;
  const options = { method: "POST", headers: { "content-type": contentType }, body: openBody() as never } as const;
  const { body } = await send(`http://127.0.0.1:${port}/`, { ...options, dispatcher: agent });
  await body.dump();
  await agent.close();
  const sent: { dataBase64: string }[] = JSON.parse(Buffer.concat(received).toString()).files;
  expect(sent.map(({ dataBase64 }) => digestOf(Buffer.from(dataBase64, "base64")))).toEqual(contents.map(digestOf));
});

describe("a file that is not the inspected one any more (row 44)", () => {
  let server: Server;
  let agent: Agent;
  let url: string;
  let complete: number;

  beforeEach(async () => {
    complete = 0;
    server = createServer((request: IncomingMessage, response) => {
      request.on("error", () => undefined);
      request.resume().on("end", () => {
        complete += 1;
        response.end("{}");
      });
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    agent = new Agent();
  });

  afterEach(async () => {
    await agent.destroy();
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });

  const post = (body: RequestBody) => {
    const headers = { "content-type": body.contentType, "content-length": String(body.contentLength) };
    return send(url, { method: "POST", headers, body: body.open() as never, dispatcher: agent });
  };

  const SIZE = 2.5 * PIECE_BYTES;
  const other = () => Buffer.alloc(SIZE, "b");

  /** A whole second, so that it can be set again exactly and only the bytes tell. */
  const TIME = new Date("2026-01-02T03:04:05Z");

  const writeSample = async () => {
    const path = await media.write("a.txt", Buffer.alloc(SIZE, "a"));
    await utimes(path, TIME, TIME);
    return path;
  };

  const CHANGES: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
    grown: (path) => appendFile(path, "x"),
    shrunk: (path) => truncate(path, SIZE - 1),
    emptied: (path) => truncate(path, 0),
    rewritten: (path) => writeFile(path, other()),
    "rewritten, same time": async (path) => {
      await writeFile(path, other());
      await utimes(path, TIME, TIME);
    },
    replaced: async (path) => {
      await writeFile(`${path}.new`, other());
      await rename(`${path}.new`, path);
    },
    "turned into a link": async (path) => {
      await rename(path, `${path}.old`);
      await symlink(`${path}.old`, path);
    },
    removed: (path) => unlink(path),
  };

  test("the request completes when nothing changed", async () => {
    const { args, files } = await media.inspect(await writeSample());
    const response = await post(createFilesBody({ arguments: args }, files, media.roots));
    await response.body.dump();
    expect(complete).toBe(1);
  });

  test("the request completes when the file was only touched", async () => {
    const path = await writeSample();
    const { args, files } = await media.inspect(path);
    await chmod(path, 0o640);
    const response = await post(createFilesBody({ arguments: args }, files, media.roots));
    await response.body.dump();
    expect(complete).toBe(1);
  });

  test("rewritten before sending, same time: not one byte of the new content is sent", async () => {
    const path = await writeSample();
    const { args, files } = await media.inspect(path);
    await writeFile(path, other());
    await utimes(path, TIME, TIME);
    let sent = "";
    const read = async () => {
      for await (const chunk of createFilesBody({ arguments: args }, files, media.roots).open())
        sent += Buffer.from(chunk).toString();
    };
    await expect(read()).rejects.toMatchObject({ code: "media_refused", serviceCode: "file_changed" });
    expect(sent).toMatch(/"dataBase64":"$/);
  });

  test.each([
    ["whole", 0],
    ["in a large file", SIZE],
  ])("a file made to have the same MD5 is another file: %s", async (_name, more) => {
    const [one, two] = MD5_COLLISION.map((start) => Buffer.concat([start, Buffer.alloc(more, "a")]));
    const digests = (algorithm: string) =>
      [one, two].map((bytes) => createHash(algorithm).update(bytes!).digest("hex"));
    expect(new Set(digests("md5")).size).toBe(1);
    expect(new Set(digests("sha256")).size).toBe(2);
    const path = await media.write("a.bin", one!);
    await utimes(path, TIME, TIME);
    const { args, files } = await media.inspect(path);
    const body = createFilesBody({ arguments: args }, files, media.roots);
    expect(JSON.parse((await collect(body)).toString()).files[0].md5).toBe(digests("md5")[0]);
    await writeFile(path, two!);
    await utimes(path, TIME, TIME);
    await expect(collect(body)).rejects.toMatchObject({ code: "media_refused", serviceCode: "file_changed" });
  });

  test.each(Object.entries(CHANGES))("%s before sending: the request never completes", async (what, change) => {
    const path = await writeSample();
    const { args, files } = await media.inspect(path);
    await change(path);
    const isGone = what === "removed" || (what === "turned into a link" && !HAS_LINKS);
    const error = await post(createFilesBody({ arguments: args }, files, media.roots)).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({
      name: "SvcError",
      code: isGone ? "file_missing" : "media_refused",
      field: "files[0]",
      hint: expect.any(String),
    });
    expect(complete).toBe(0);
  });

  test.each(["grown", "shrunk", "rewritten", "rewritten, same time"])(
    "%s while sending: the body never ends",
    async (what) => {
      const path = await writeSample();
      const { args, files } = await media.inspect(path);
      const body = createFilesBody({ arguments: args }, files, media.roots);
      let seen = 0;
      const sending = (async () => {
        for await (const chunk of body.open()) {
          seen += chunk.length;
          // After the frame and the first piece of data.
          if (seen > (4 / 3) * PIECE_BYTES && seen < 2 * PIECE_BYTES) await CHANGES[what]?.(path);
        }
      })();
      await expect(sending).rejects.toMatchObject({ code: "media_refused", serviceCode: "file_changed" });
      expect(seen).toBeLessThan(body.contentLength);
    },
  );

  test("a byte that is changed in place while sending does not leave, nor does anything after it", async () => {
    const content = randomBytes(6 * PIECE_BYTES);
    const path = await media.write("a.bin", content);
    await utimes(path, TIME, TIME);
    const { files } = await media.inspect(path);
    const sent: Buffer[] = [];
    const read = async () => {
      for await (const piece of readInspected(files[0]!, media.roots)) {
        sent.push(Buffer.from(piece));
        if (sent.length > 1) continue;
        await using file = await open(path, "r+");
        await file.write(Buffer.of(~content[4 * PIECE_BYTES]! & 255), 0, 1, 4 * PIECE_BYTES);
        await file.utimes(TIME, TIME);
      }
    };
    await expect(read()).rejects.toMatchObject({ code: "media_refused", serviceCode: "file_changed" });
    expect(Buffer.concat(sent).equals(content.subarray(0, 4 * PIECE_BYTES))).toBe(true);
  });

  test("two pieces that change places do not leave, before sending or while it goes on", async () => {
    const pieces = Array.from({ length: 6 }, () => randomBytes(PIECE_BYTES));
    const [, , , , one, other] = pieces;
    const path = await media.write("a.bin", Buffer.concat(pieces));
    await utimes(path, TIME, TIME);
    const { files } = await media.inspect(path);
    const swap = async () => {
      await using file = await open(path, "r+");
      await file.write(Buffer.concat([other!, one!]), 0, 2 * PIECE_BYTES, 4 * PIECE_BYTES);
      await file.utimes(TIME, TIME);
    };
    let sent = 0;
    const read = async () => {
      for await (const piece of readInspected(files[0]!, media.roots)) {
        if (sent === 0) await swap();
        sent += piece.length;
      }
    };
    const changed = { code: "media_refused", serviceCode: "file_changed" };
    await expect(read()).rejects.toMatchObject(changed);
    expect(sent).toBe(4 * PIECE_BYTES);
    sent = 0;
    await expect(read()).rejects.toMatchObject(changed);
    expect(sent).toBe(0);
  });

  test("a body that is given up leaves no file open", async () => {
    const openFiles = async () => (await readdir("/proc/self/fd")).length;
    const { args, files } = await media.inspect(await writeSample());
    const before = await openFiles();
    for (let turn = 0; turn < 20; turn += 1) {
      for await (const chunk of createFilesBody({ arguments: args }, files, media.roots).open()) {
        if (chunk.length > 100 * KIB) break;
      }
    }
    expect(await openFiles()).toBeLessThan(before + 5);
  });
});
