import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createService, type Service } from "../../../src/service/create-service.ts";
import { startPostgres, type TestPostgres } from "../../suites/start-postgres.ts";
import { findFreePort } from "../free-port.ts";
import { createAuthenticator } from "../http/kit/authenticator.ts";
import { call, type Reply } from "../http-calls.ts";

/** Two processes of one service behind one address: a browser reaches now one of them and now the other. */

const SITE = "http://localhost:8790";
let postgres: TestPostgres;
let folder: string;
const services: Service[] = [];
const ports: number[] = [];

beforeAll(async () => {
  postgres = await startPostgres();
  folder = await mkdtemp(join(tmpdir(), "svc-passkeys-"));
  const shared = { database: await postgres.createDatabase(), secretKey: "k".repeat(40), publicUrl: SITE };
  for (const name of ["one", "two"]) {
    const port = await findFreePort();
    ports.push(port);
    services.push(await createService({ ...shared, dataDir: join(folder, name), port, integrations: [] }));
  }
}, 120_000);
afterAll(async () => {
  for (const service of services) await service.close();
  await rm(folder, { recursive: true, force: true });
  await postgres?.stop();
});

/** Sends a form to one of the processes, which answers under the address of both. */
const send = (process: number, path: string, fields: Record<string, string>, cookie = ""): Promise<Reply> =>
  call(`http://127.0.0.1:${ports[process]}${path}`, {
    method: "POST",
    headers: { host: "localhost:8790", cookie, "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams(fields).toString(),
  });

const cookieOf = ({ headers }: Reply) => String([headers["set-cookie"]].flat()[0]).split(";")[0] ?? "";
const pathOf = ({ headers }: Reply) => /^\/s\/[\w-]{43}/.exec(String(headers.location))?.[0] ?? "";

test("one process asks, the other takes the answer, and of answers to both at once exactly one counts", async () => {
  const token = new URL((await services[0]?.signInUrl()) ?? "").searchParams.get("token") ?? "";
  const signedIn = await send(1, "/sign-in", { token });
  const [path, cookie] = [pathOf(signedIn), cookieOf(signedIn)];
  const page = await call(`http://127.0.0.1:${ports[0]}${path}/sessions`, {
    headers: { host: "localhost:8790", cookie },
  });
  const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? "";
  const passkey = createAuthenticator(SITE);
  const answer = passkey.create((await send(0, `${path}/passkeys/start`, { csrf }, cookie)).json);
  const added = await Promise.all([0, 1].map((process) => send(process, `${path}/passkeys`, { csrf, answer }, cookie)));
  expect(added.map(({ status }) => status).sort()).toEqual([303, 400]);

  for (const asked of [0, 1]) {
    const question = await send(asked, "/sign-in/passkey/start", {});
    const answers = [0, 1, 0, 1].map((process) =>
      send(process, "/sign-in/passkey", { answer: passkey.get(question.json) }, cookieOf(question)),
    );
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([303, 401, 401, 401]);
  }
});
