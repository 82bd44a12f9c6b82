import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { createBlobStore } from "../../../../src/service/files/blob-store.ts";
import { createIngestTokens } from "../../../../src/service/files/ingest-tokens.ts";
import { receiveIngest } from "../../../../src/service/files/receive-ingest.ts";
import type { ServiceError } from "../../../../src/service/service-error.ts";
import { useTempFolder } from "../temp-folder.ts";

const folder = useTempFolder();

describe("the command of a missing_file_bytes hint", () => {
  it("uploads the file when a shell runs it as it stands", async () => {
    const blobs = createBlobStore({ dir: join(folder(), "blobs"), now: Date.now });
    const path = join(folder(), 'it\'s a "photo" $5 ✓.png');
    await writeFile(path, "not really a photo");
    const server = createServer((incoming, response) => {
      const { authorization, "content-type": contentType, "x-file-name": fileName } = incoming.headers;
      receiveIngest(
        { authorization, fileName: String(fileName), contentType, bytes: incoming },
        { tokens, blobs },
      ).then(
        (receipt) => response.writeHead(201).end(JSON.stringify(receipt)),
        (error: ServiceError) => response.writeHead(error.status).end(error.message),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const baseUrl = `http://127.0.0.1:${port}`;
    const tokens = createIngestTokens({ secret: "s", baseUrl, spend: async () => true, now: Date.now });
    const offer = tokens.mint({ account: "1", tool: "drive_upload_file", field: "file", reference: path });
    const shell = spawn("/bin/sh", ["-c", offer?.command ?? ""]);
    const receipt: unknown = JSON.parse(await text(shell.stdout));
    server.close();
    expect(receipt).toMatchObject({ name: 'it\'s a "photo" $5 ✓.png', mimetype: "text/plain", size: 18 });
  });
});
