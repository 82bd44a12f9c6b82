import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ApprovalRequest } from "../../src/plugin/calls/ask/request.ts";
import { openTestSession, sayNo } from "../plugin/calls/open-test-session.ts";

/** What a human is asked about the save that the pages show: hello.txt into the folder Letters. */
export async function askAboutHello(service: Parameters<typeof openTestSession>[0]): Promise<ApprovalRequest> {
  const session = await openTestSession(service, { answer: sayNo });
  await mkdir(join(session.media, "inbound"));
  await writeFile(join(session.media, "inbound/hello.txt"), "hello\n");
  const args = { folder: "Letters", file: { s3key: "media://inbound/hello.txt" } };
  await session.call({ callId: "1", toolName: "drive_upload_file", arguments: args });
  const [request] = session.asked;
  if (request === undefined) throw new Error("Nobody was asked.");
  return request;
}
