import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { Agent } from "undici";
import { expect, it } from "vitest";
import { createDriveIntegration } from "../../../../src/apps/drive/drive-integration.ts";
import { WebdavClient } from "../../../../src/apps/drive/webdav/webdav-client.ts";
import { readWebdavSettings } from "../../../../src/apps/drive/webdav/webdav-settings.ts";
import { RemoteCall } from "../../../../src/apps/port/remote-call.ts";
import { createTurns } from "../../../../src/shared/base/concurrency.ts";
import { createRunner, holdFile, refusal } from "../../run-action.ts";
import { type DriveHost, describeDrive } from "../describe-drive.ts";
import { describeDriveChanges } from "../drive-changes.ts";
import { describeDriveUndo } from "../drive-undo.ts";
import { PASSWORD, USER } from "../start-webdav.ts";
import { APACHE, RCLONE } from "./find-drive-servers.ts";
import { type FileServer, startServer } from "./start-server.ts";

/** Of changes between showing and running. */
/** `SVC_FILES=1000` takes an hour. */
const RUNS = Number(process.env.SVC_FILES ?? 100);
const isRoot = process.getuid?.() === 0;
const SIGN_IN = { webdavUser: USER, webdavPassword: PASSWORD };

describeDrive("WebDAV on Apache", hostApache, { secret: "webdavPassword" });
describeDriveChanges("WebDAV on Apache", hostApache, { runs: RUNS });
describeDriveUndo("WebDAV on Apache", hostApache, { runs: RUNS });

it("Apache replaces only the version that was found", async () => {
  const server = await startApache();
  const integration = createDriveIntegration();
  const path = join(server.folder, "files/a.txt");
  // A file of this moment has no version yet that could be compared.
  const put = (text: string, age: number) => {
    writeFileSync(path, text);
    utimesSync(path, age, age);
  };
  const held = holdFile("a.txt", "text/plain", "ours");
  const settings = { ...SIGN_IN, webdavUrl: `http://127.0.0.1:${server.port}` };
  const run = createRunner(integration, { settings, now: Date.now });
  const save = (open: () => Readable) => {
    const file = { name: "a.txt", mimetype: "text/plain", s3key: "k" };
    return run("upload_file", { file, if_exists: "replace" }, { k: { ...held, open } });
  };
  put("theirs", 1_700_000_000);
  const changing = () => {
    put("changed", 1_700_000_100);
    return held.open();
  };
  expect(await refusal(save(changing))).toMatchObject({ status: 409, code: "conflict" });
  expect(readFileSync(path, "utf8")).toBe("changed");
  if (isRoot) execFileSync("chown", ["www-data", path]);
  await save(held.open);
  expect(readFileSync(path, "utf8")).toBe("ours");
  await integration.close?.();
  await server.close();
});

it("Apache moves over no other version than the one that was found", async () => {
  const server = await startApache();
  const settings = readWebdavSettings({ ...SIGN_IN, webdavUrl: `http://127.0.0.1:${server.port}` }, undefined);
  const agent = new Agent();
  const context = { signal: AbortSignal.timeout(30_000), now: Date.now };
  const action = { level: "write", idempotent: false } as const;
  const client = new WebdavClient(
    new RemoteCall({ app: "Apache", action, context, secrets: {} }),
    settings,
    agent,
    createTurns(),
  );
  const put = (name: string, text: string, age: number) => {
    writeFileSync(join(server.folder, "files", name), text);
    utimesSync(join(server.folder, "files", name), age, age);
  };
  const find = async (name: string) => (await client.find([name])) ?? expect.fail(`${name} is gone.`);
  put("new.txt", "ours", 1_700_000_000);
  put("a.txt", "theirs", 1_700_000_000);
  const [source, old] = [await find("new.txt"), await find("a.txt")];
  put("a.txt", "changed", 1_700_000_100);
  expect(await client.move(source, ["a.txt"], { etag: old.etag })).toBe(false);
  expect(await client.move(source, ["a.txt"], "never")).toBe(false);
  expect(readFileSync(join(server.folder, "files/a.txt"), "utf8")).toBe("changed");
  expect(await client.move(source, ["a.txt"], { etag: (await find("a.txt")).etag })).toBe(true);
  expect(readFileSync(join(server.folder, "files/a.txt"), "utf8")).toBe("ours");
  await agent.close();
  await server.close();
});

describeDrive("WebDAV on rclone", hostRclone, { isConditional: false, secret: "webdavPassword" });
describeDriveChanges("WebDAV on rclone", hostRclone, { runs: RUNS, isConditional: false });
describeDriveUndo("WebDAV on rclone", hostRclone, { runs: RUNS, isConditional: false });

async function hostRclone(): Promise<DriveHost> {
  const server = await startServer(({ port, folder }) => ({
    command: [
      RCLONE,
      ...["serve", "webdav", folder, "--addr", `127.0.0.1:${port}`],
      ...["--config", "", "--vfs-cache-mode", "off"],
    ],
    env: { RCLONE_USER: USER, RCLONE_PASS: PASSWORD },
  }));
  return openHost(server);
}

async function hostApache(): Promise<DriveHost> {
  return openHost(await startApache());
}

function startApache(): Promise<FileServer> {
  return startServer(({ port, folder }) => {
    const config = join(folder, "httpd.conf");
    writeFileSync(config, configure(port, folder));
    const hash = createHash("sha1").update(PASSWORD).digest("base64");
    writeFileSync(join(folder, "users"), `${USER}:{SHA}${hash}\n`);
    for (const name of ["files", "state"]) mkdirSync(join(folder, name));
    if (isRoot) execFileSync("chown", ["www-data", join(folder, "files"), join(folder, "state")]);
    // The server works as another user.
    chmodSync(folder, 0o755);
    return { command: [APACHE.program, "-D", "FOREGROUND", "-d", folder, "-f", config] };
  });
}

function configure(port: number, folder: string): string {
  const signIn = ["authn_core", "authn_file", "authz_core", "authz_user", "auth_basic"];
  const modules = ["mpm_event", ...signIn, "dav", "dav_fs"];
  const user = isRoot ? ["User www-data", "Group www-data"] : [];
  return [
    ...modules.map((name) => `LoadModule ${name}_module ${APACHE.modules}/mod_${name}.so`),
    ...user,
    `Listen 127.0.0.1:${port}`,
    "ServerName 127.0.0.1",
    `PidFile ${folder}/httpd.pid`,
    `ErrorLog ${folder}/error.log`,
    `DavLockDB ${folder}/state/locks`,
    `DocumentRoot ${folder}/files`,
    "<Location />",
    "Dav On",
    "AuthType Basic",
    "AuthName files",
    `AuthUserFile ${folder}/users`,
    "Require valid-user",
    "</Location>",
  ].join("\n");
}

/** Gives every drive a folder of its own. */
function openHost(server: FileServer): DriveHost {
  let opened = 0;
  return {
    async open() {
      const webdavUrl = `http://127.0.0.1:${server.port}/drive%20${++opened}%20%C3%A4`;
      const authorization = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString("base64")}`;
      const reply = await fetch(webdavUrl, { method: "MKCOL", headers: { authorization } });
      if (reply.status !== 201) throw new Error(`No folder was made: ${reply.status}.`);
      return { ...SIGN_IN, webdavUrl };
    },
    close: server.close,
  };
}
