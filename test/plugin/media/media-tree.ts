import { execFileSync } from "node:child_process";
import { link, mkdir, mkdtemp, open, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

/** One pixel, so that content and ending of the sample files agree. */
export const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const MAKE_FIFO = "mkfifo";
const MAKE_NODE = "mknod";
export const SECRET = "TOP-SECRET-PRIVATE-KEY";

/** A home folder with a media folder in it and everything an attacker could put there. */
export interface MediaTree {
  readonly base: string;
  readonly home: string;
  /** The media root. */
  readonly media: string;
  readonly workspace: string;
  /** Another agent's sandbox, with a media folder of its own. */
  readonly sibling: string;
  /** A symbolic link to {@link media}. */
  readonly linkToMedia: string;
  /** Descriptor of the open secret. */
  readonly secretFd: number;
  /** False when this user may not make device files. */
  readonly hasDevice: boolean;
  remove(): Promise<void>;
}

export async function createMediaTree(): Promise<MediaTree> {
  const base = await realpath(await mkdtemp(path.join(tmpdir(), "svc-media-")));
  const at = (...parts: string[]) => path.join(base, ...parts);
  const media = at("home/.openclaw/media");
  const inbound = path.join(media, "inbound");
  for (const folder of ["sub/deep", "real"]) await mkdir(path.join(inbound, folder), { recursive: true });
  for (const folder of ["home/.ssh", "home/.openclaw/media-evil", "x/.openclaw/media", "ws/media/inbound"]) {
    await mkdir(at(folder), { recursive: true });
  }
  await mkdir(at("sibling/media/inbound"), { recursive: true });
  await writeSecrets(at, inbound);
  await writeSamples(inbound, at);
  await writeLinks(at, inbound);
  const { hasDevice, server } = await writeSpecials(inbound);
  const secret = await open(at("home/.ssh/id_rsa"));
  return {
    base,
    home: at("home"),
    media,
    workspace: at("ws"),
    sibling: at("sibling"),
    linkToMedia: at("link-to-media"),
    secretFd: secret.fd,
    hasDevice,
    async remove() {
      await secret.close();
      await new Promise((done) => server.close(done));
      await rm(base, { recursive: true, force: true });
    },
  };
}

type At = (...parts: string[]) => string;

async function writeSecrets(at: At, inbound: string): Promise<void> {
  const secrets = ["home/.ssh/id_rsa", "home/.openclaw/openclaw.json", "x/.openclaw/media/k.pem"];
  for (const file of secrets) await writeFile(at(file), SECRET);
  for (const file of [".env", "id_rsa", "ID_ED25519", "credentials"]) await writeFile(path.join(inbound, file), SECRET);
  await mkdir(path.join(inbound, "keychains"));
  await writeFile(path.join(inbound, "keychains/login.db"), SECRET);
  await writeFile(at("home/.openclaw/media-evil/a.png"), PNG);
  await writeFile(at("sibling/media/inbound/a.png"), PNG);
}

async function writeSamples(inbound: string, at: At): Promise<void> {
  const names = [
    "a.png",
    "sub/deep/a.png",
    "café 写真.png",
    "with blank.png",
    "a#1.png",
    "a?x=1.png",
    "%2e%2e%2fa.png",
  ];
  for (const name of names) await writeFile(path.join(inbound, name), PNG);
  await writeFile(at("ws/media/inbound/w.png"), PNG);
  await writeFile(path.join(inbound, "empty.txt"), "");
  for (const [name, size] of [
    ["exact.txt", 26_214_400],
    ["over.txt", 26_214_401],
    ["sparse.txt", 26 * 1024 * 1024],
  ] as const) {
    const file = await open(path.join(inbound, name), "w");
    await file.truncate(size);
    await file.close();
  }
}

async function writeLinks(at: At, inbound: string): Promise<void> {
  const links = [
    [at("home/.ssh/id_rsa"), "leaf-out.png"],
    [path.join(inbound, "a.png"), "leaf-in.png"],
    [path.join(inbound, "nowhere"), "dangling.png"],
    [path.join(inbound, "loop.png"), "loop.png"],
    [at("home/.ssh"), "dirlink"],
    [path.join(inbound, "sub"), "sublink"],
    ["/proc/self/environ", "environ.png"],
    ["/proc/self", "selflink"],
  ] as const;
  for (const [target, name] of links) await symlink(target, path.join(inbound, name));
  await link(at("home/.ssh/id_rsa"), path.join(inbound, "hard.png"));
  await symlink(path.dirname(inbound), at("link-to-media"));
}

async function writeSpecials(inbound: string): Promise<{ hasDevice: boolean; server: Server }> {
  execFileSync(MAKE_FIFO, [path.join(inbound, "fifo.png")]);
  const server = createServer();
  await new Promise<void>((done) => server.listen(path.join(inbound, "socket.png"), done));
  try {
    execFileSync(MAKE_NODE, [path.join(inbound, "device.png"), "c", "1", "5"], { stdio: "ignore" });
    return { hasDevice: true, server };
  } catch {
    return { hasDevice: false, server };
  }
}
