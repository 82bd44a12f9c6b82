import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { findBuiltPackage } from "../processes/built-package.ts";
import { type ServiceProcess, startService } from "../processes/start-service.ts";
import type { Measure } from "../report/part-report.ts";
import { reportProgress } from "../report/run-part.ts";
import { takeTurns } from "../report/take-turns.ts";

const CURL = "curl with a ready envelope";
const TARGET = 1.3;
const TOOL = "drive_upload_file";

/**
 * `svc call drive_upload_file`, from the start of the process to its end, whose question is answered as soon as it is
 * asked, beside `curl` that posts a ready envelope. The service answers both when its disk has the file.
 */
export async function measureCommand(file: string, folder: string, rounds: number): Promise<Measure> {
  reportProgress("svc call");
  const service = await startService(join(folder, "command-data"));
  const envelope = join(folder, "envelope.json");
  await writeFile(envelope, await makeEnvelope(file));
  await mkdir(join(folder, "command-home"));
  const bin = join(await findBuiltPackage(), "bin.js");
  const args = ["--file", `file=${file}`, "--args", JSON.stringify({ if_exists: "replace" })];
  try {
    const [own = [], curl = []] = await takeTurns(["svc", "curl"], { rounds, warmUps: 1 }, (candidate) =>
      candidate === "svc"
        ? time(() => runCall([bin, "call", TOOL, ...args], service, join(folder, "command-home")))
        : time(() => runCurl(envelope, service)),
    );
    return {
      what: `svc call ${TOOL}, 25 MB: process and durable file`,
      unit: "ms",
      samples: own,
      peers: [{ name: CURL, samples: curl }],
      targets: [{ bound: "at most", limit: TARGET, ratioTo: CURL }],
    };
  } finally {
    await service.stop();
  }
}

async function makeEnvelope(path: string): Promise<string> {
  const bytes = await readFile(path);
  const file = { name: basename(path), mimetype: "application/octet-stream", s3key: "file-1" };
  const { s3key: pointer, ...named } = file;
  const md5 = createHash("md5").update(bytes).digest("hex");
  const entry = { pointer, ...named, dataBase64: bytes.toString("base64"), md5 };
  return JSON.stringify({ arguments: { file, if_exists: "replace" }, confirmed: true, files: [entry] });
}

async function runCall(args: readonly string[], service: ServiceProcess, home: string): Promise<void> {
  const env = { PATH: process.env.PATH, SVC_HOME: home, SVC_BASE_URL: service.url, SVC_API_KEY: service.apiKey };
  const child = spawn(process.execPath, [...args], { env, stdio: "pipe" });
  let said = "";
  let isAnswered = false;
  const listen = (text: Buffer) => {
    said += text;
    if (isAnswered || !said.includes("[a]pprove")) return;
    isAnswered = true;
    child.stdin.end("a\n");
  };
  child.stdout.on("data", listen);
  child.stderr.on("data", listen);
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`svc call ended with ${code}: ${said}`);
}

async function runCurl(envelope: string, service: ServiceProcess): Promise<void> {
  const headers = ["-H", "content-type: application/json", "-H", `x-svc-api-key: ${service.apiKey}`];
  const child = spawn("curl", [
    ...["-sS", "--fail", "-o", "/dev/null", "-X", "POST", ...headers, "-H", "Expect:"],
    ...["--data-binary", `@${envelope}`, `${service.url}/api/tools/${TOOL}/execute`],
  ]);
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`curl ended with ${code}`);
}

async function time(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}
