import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runSvc, startSvc } from "../e2e/run-svc.ts";

let home: string;
let config: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "svc-serve-"));
  config = join(home, "svc.env");
});

afterEach(() => rm(home, { recursive: true, force: true }));

test("a flag goes before its variable, and a variable before the file", async () => {
  await writeFile(
    config,
    `SVC_PORT=none\nSVC_HOST=::1\nSVC_DATA=${join(home, "file")}\nSVC_PUBLIC_URL=https://one.example\n`,
  );
  const env = { SVC_DATA: join(home, "variable"), SVC_HOST: "not.an.address" };
  const running = startSvc(["serve", "--config", config, "--port", "0", "--host", "127.0.0.1"], home, env);
  await running.waitFor(/Listening on http:\/\/127\.0\.0\.1:\d+\nPublic address: https:\/\/one\.example\n/);
  await running.waitFor(new RegExp(`Data folder: ${join(home, "variable")}\n`));
  running.kill("SIGTERM");
  expect(await running.done).toMatchObject({ code: 0 });
});

test.each([
  ["SVC_KEEP_DAYS=many", 2, '--keep-days is "many"'],
  ["SVC_PROVIDER_TIMEOUT=0", 2, '--provider-timeout is "0"; it must be a whole number from 1 to 86400'],
  ["SVC_APPROVALS=nobody", 2, "'SVC_APPROVALS'"],
  ["SVC_OTEL=0", 1, 'SVC_OTEL is "0". Set it to 1 to turn it on; leave it out to keep it off.'],
])("a wrong line of the file is named: %s", async (line, code, text) => {
  await writeFile(config, `SVC_PORT=0\n${line}\n`);
  const run = await runSvc(["serve", "--config", config], home);
  expect([run.code, run.stderr]).toEqual([code, expect.stringContaining(text)]);
});

test("an address that is not encrypted is warned about, and is none to pair with", async () => {
  const address = "http://svc.example";
  const running = startSvc(["serve", "--port", "0", "--data", join(home, "data"), "--public-url", address], home);
  await running.waitFor(/warn: The public address http:\/\/svc\.example is not encrypted/);
  await running.waitFor(/Next: open the sign-in link, then put TLS in front of the service: "svc pair" needs an https/);
  running.kill("SIGTERM");
  expect(await running.done).toMatchObject({ code: 0 });
});

test.each([
  ["SVC_SECRET=short", 1, "SVC_SECRET must be a text of at least 32 characters"],
  ["SVC_PUBLIC_URL=svc", 2, "--public-url must be an origin without a path. Give --public-url the form"],
])("an option of the service is named as it is typed: %s", async (line, code, text) => {
  await writeFile(config, `SVC_PORT=0\n${line}\n`);
  const run = await runSvc(["serve", "--config", config], home);
  expect([run.code, run.stderr]).toEqual([code, expect.stringContaining(text)]);
  expect(run.stderr).not.toMatch(/secretKey|publicUrl/);
});

test.each([
  ["login-link"],
  ["notify", "test"],
  ["log", "export"],
  ["backup"],
  ["restore", "none.tar.gz"],
  ["compact"],
  ["people", "list"],
  ["rules", "list"],
  ["review", "none"],
])("svc %s reads the file, too", async (...command) => {
  await writeFile(config, "SVC_PROT=0\n");
  const run = await runSvc([...command, "--config", config], home);
  expect([run.code, run.stderr]).toEqual([2, expect.stringContaining("SVC_PROT is no setting")]);
});

test("the file says where the data of a command's service lies", async () => {
  await writeFile(config, `SVC_DATA=${join(home, "elsewhere")}\n`);
  const run = await runSvc(["compact", "--config", config], home);
  expect(run.stderr).toContain(`no database of a service in ${join(home, "elsewhere")}`);
});

test("a file that is not there is named", async () => {
  const run = await runSvc(["serve", "--config", join(home, "gone.env")], home);
  expect([run.code, run.stderr]).toEqual([2, expect.stringMatching(/gone\.env' is invalid\. There is no such file\./)]);
});

test("a variable that no option has is named; those of other commands and programs may stand there", async () => {
  await writeFile(config, "SVC_API_KEY=key\nPATH_OF_OTHERS=/\nSVC_PROT=0\n");
  const run = await runSvc(["serve", "--config", config], home);
  expect([run.code, run.stderr]).toEqual([2, expect.stringContaining("SVC_PROT is no setting;")]);
  expect(run.stderr).not.toContain("SVC_API_KEY");
});
