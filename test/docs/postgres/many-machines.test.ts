import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runSvc, startSvc } from "../../e2e/run-svc.ts";
import { closeAll, makeFolder } from "../../plugin/calls/open-test-session.ts";
import { findFreePort } from "../../service/free-port.ts";
import { startPostgres, type TestPostgres } from "../../suites/start-postgres.ts";
import { readFences } from "../read-page.ts";

/** docs/many-machines.md, on a real server: both processes of the page, and a sign-in link of the first at the second. */

const LINES = readFences("docs/many-machines.md").flatMap(({ language, code }) =>
  language === "sh" ? code.trim().split("\n") : [],
);

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(async () => {
  await closeAll();
  await postgres.stop();
});

test("the commands of the page start two processes that are one service", async () => {
  const folder = await makeFolder();
  const ports = new Map([
    ["8790", "8790"],
    ["8791", String(await findFreePort())],
    ["8792", String(await findFreePort())],
  ]);
  const place = (text: string) =>
    text.replaceAll("/srv/svc", folder).replaceAll(/\b879[0-2]\b/g, (port) => ports.get(port) ?? port);
  const env: Record<string, string> = {};
  for (const line of LINES) {
    const [, name, value] = /^export (SVC_\w+)=(.*)$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) env[name] = place(value);
  }
  expect(Object.keys(env).sort()).toEqual(["SVC_DATABASE", "SVC_FILES", "SVC_PUBLIC_URL", "SVC_SECRET"]);
  expect(env.SVC_SECRET).toBe('"$(openssl rand -base64 32)"');
  Object.assign(env, { SVC_DATABASE: await postgres.createDatabase(), SVC_SECRET: randomBytes(32).toString("base64") });
  const toArgs = (line: string) =>
    place(line.replace(/^svc /, "").replace('"$SVC_PUBLIC_URL"', env.SVC_PUBLIC_URL ?? "")).split(" ");

  const running = LINES.filter((line) => /^svc serve --port/.test(line)).map((line) =>
    startSvc(toArgs(line), folder, env),
  );
  try {
    expect(running).toHaveLength(2);
    for (const one of running) await one.waitFor(/Sign in: \S+/);
    for (const port of [ports.get("8791"), ports.get("8792")]) {
      expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
    }
    const [link = ""] = LINES.filter((line) => line.startsWith("svc login-link"));
    const made = await runSvc(toArgs(link), folder, { env });
    expect(made, made.stderr).toMatchObject({ code: 0 });
    const { pathname, searchParams: body } = new URL(made.stdout.trim());
    const other = `http://127.0.0.1:${ports.get("8792")}${pathname}`;
    const signedIn = await fetch(other, { method: "POST", body, redirect: "manual" });
    expect(signedIn.status).toBe(303);
  } finally {
    for (const one of running) one.kill("SIGTERM");
  }
  for (const one of running) expect(await one.done).toMatchObject({ code: 0 });
}, 60_000);
