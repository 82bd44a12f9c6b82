import { link, mkdir, mkdtemp, realpath, rename, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openMediaFile } from "../../../../src/plugin/media/open/open-media-file.ts";
import { createMediaRoots } from "../../../../src/plugin/media/open/roots.ts";
import { expectMode, HAS_LINKS, IS_WINDOWS } from "../../../suites/this-system.ts";

let base: string;
let home: string;

beforeEach(async () => {
  base = await realpath(await mkdtemp(path.join(tmpdir(), "svc-roots-")));
  home = path.join(base, "home");
  await mkdir(home);
});

afterEach(() => rm(base, { recursive: true, force: true }));

const isOpen = async (roots: Awaited<ReturnType<typeof createMediaRoots>>, reference: string) => {
  const opened = await openMediaFile(roots, reference);
  if ("refused" in opened) return opened.refused;
  await opened.file.close();
  return "open";
};

test("creates a missing folder for this user only", async () => {
  const roots = await createMediaRoots(["~/a/media"], { home });
  expectMode(path.join(home, "a/media"), 0o700);
  expectMode(path.join(home, "a"), 0o700);
  await roots.close();
});

const SYSTEM_FOLDERS = IS_WINDOWS
  ? ["C:\\Windows", "c:/windows/Temp", "C:\\Program Files\\x", "C:\\ProgramData"]
  : "/etc /etc/ssl /proc/self/root/tmp /usr /usr/share /var /run /home /opt /lib /bin".split(" ");

test.each([
  ["/", "whole file system"],
  ["~", "home folder"],
  ["~/", "home folder"],
  ["~/../home", "home folder"],
  ["media", "absolute path"],
  ["", "absolute path"],
  [".", "absolute path"],
  ["/tmp/\0x", "absolute path"],
  ...SYSTEM_FOLDERS.map((folder) => [folder, "operating system"]),
  // The temporary folder of a run, and with it this test's home, may lie below /dev.
  ...(IS_WINDOWS ? [] : [["/dev", "operating system", "/home/me"]]),
  ["~/.ssh", "secrets"],
  ["~/.SSH/media", "secrets"],
  ["~/.aws/media", "secrets"],
])("refuses %j", async (folder, why, ownHome = home) => {
  const refusal = await createMediaRoots([folder], { home: ownHome }).catch((error: unknown) => error);
  expect(refusal).toMatchObject({ code: "invalid_config", field: "mediaRoots", message: expect.stringContaining(why) });
  expect(refusal).toHaveProperty("hint");
});

test.each(["svc.db", "connection-secrets.key", "credentials.json"])(
  "refuses a folder that holds %s; one above it sends no such file",
  async (name) => {
    const data = path.join(base, "work/data");
    await mkdir(path.join(data, "blobs"), { recursive: true });
    await writeFile(path.join(data, name), "secret");
    const refused = { code: "invalid_config", field: "mediaRoots" };
    await expect(createMediaRoots([data], { home })).rejects.toMatchObject(refused);
    if (name !== "credentials.json") {
      await expect(createMediaRoots([path.join(data, "blobs")], { home })).rejects.toMatchObject(refused);
    }
    const roots = await createMediaRoots([path.join(base, "work")], { home });
    expect(await isOpen(roots, path.join(data, name))).not.toBe("open");
    await roots.close();
  },
);

test("refuses a folder above the home folder, one with secrets in it, a file, and a link to any of them", async () => {
  const refused = (folder: string) =>
    expect(createMediaRoots([folder], { home })).rejects.toMatchObject({ code: "invalid_config" });
  await mkdir(path.join(base, "work/.GnuPG"), { recursive: true });
  await writeFile(path.join(base, "file"), "x");
  for (const name of ["", "work", "file"]) await refused(path.join(base, name));
  if (!HAS_LINKS) return;
  await symlink(home, path.join(base, "to-home"));
  await symlink("/", path.join(base, "to-all"));
  await symlink(path.join(base, "work"), path.join(base, "to-work"));
  for (const name of ["to-home", "to-all", "to-work"]) await refused(path.join(base, name));
});

test("the working directory is no root unless it is named", async () => {
  const roots = await createMediaRoots(["~/media"], { home });
  expect(await isOpen(roots, path.resolve("package.json"))).toBe("outside_roots");
  await roots.close();
});

test.runIf(HAS_LINKS)(
  "both spellings of a linked root are matched, and a later swap of the link changes nothing",
  async () => {
    const real = path.join(base, "real");
    const linked = path.join(base, "linked");
    const evil = path.join(base, "evil");
    for (const folder of [real, evil]) await mkdir(folder);
    await writeFile(path.join(real, "a.txt"), "good");
    await writeFile(path.join(evil, "b.txt"), "bad");
    await symlink(real, linked);
    const roots = await createMediaRoots([linked], { home });
    expect(await isOpen(roots, path.join(linked, "a.txt"))).toBe("open");
    expect(await isOpen(roots, path.join(real, "a.txt"))).toBe("open");
    await rm(linked);
    await symlink(evil, linked);
    expect(await isOpen(roots, path.join(linked, "b.txt"))).toBe("not_found");
    await rename(real, path.join(base, "moved"));
    await symlink(evil, real);
    expect(await isOpen(roots, path.join(real, "b.txt"))).toBe("not_found");
    expect(await isOpen(roots, path.join(real, "a.txt"))).toBe("open");
    await roots.close();
  },
);

test("a file that is being published (link, then unlink) gets a second look", async () => {
  const media = path.join(home, "media");
  await mkdir(media);
  await writeFile(path.join(media, "a.txt"), "good");
  await link(path.join(media, "a.txt"), path.join(media, "a.tmp"));
  const waits: number[] = [];
  const roots = await createMediaRoots([media], {
    home,
    sleep: async (ms) => {
      waits.push(ms);
      await unlink(path.join(media, "a.tmp"));
    },
  });
  expect(await isOpen(roots, path.join(media, "a.txt"))).toBe("open");
  expect(waits).toEqual([50]);
  await roots.close();
});

test("a named file is open to reading, its neighbours and media:// are not", async () => {
  await writeFile(path.join(home, "report.pdf"), "x");
  await writeFile(path.join(home, "other.pdf"), "x");
  await mkdir(path.join(home, "inbound"));
  await writeFile(path.join(home, "inbound/report.pdf"), "x");
  await symlink(path.join(home, "other.pdf"), path.join(home, "link.pdf"));
  const roots = await createMediaRoots([], {
    home,
    files: [path.join(home, "report.pdf"), path.join(home, "link.pdf"), path.join(home, ".env")],
  });
  expect(await isOpen(roots, path.join(home, "report.pdf"))).toBe("open");
  expect(await isOpen(roots, "~/report.pdf")).toBe("open");
  expect(await isOpen(roots, path.join(home, "other.pdf"))).toBe("outside_roots");
  expect(await isOpen(roots, path.join(home, "inbound/report.pdf"))).toBe("outside_roots");
  expect(await isOpen(roots, "media://inbound/report.pdf")).toBe("outside_roots");
  if (HAS_LINKS) expect(await isOpen(roots, path.join(home, "link.pdf"))).toBe("symlink");
  expect(await isOpen(roots, path.join(home, ".env"))).toBe("hidden_component");
  await roots.close();
});

test("a named file in a folder that is not there is refused with its path", async () => {
  const file = path.join(home, "nowhere/report.pdf");
  await expect(createMediaRoots([], { home, files: [file] })).rejects.toMatchObject({
    code: "invalid_config",
    message: expect.stringContaining(file),
  });
});

describe("a folder of which only some parts may be read", () => {
  const open = async (areas: readonly string[]) => {
    const media = path.join(base, "media");
    for (const area of ["inbound", "tool-image-generation", "outbound"]) {
      await mkdir(path.join(media, area), { recursive: true });
      await writeFile(path.join(media, area, "a.txt"), area);
    }
    await writeFile(path.join(media, "loose.txt"), "loose");
    const roots = await createMediaRoots([{ folder: media, areas }], { home });
    const verdict = (name: string) => isOpen(roots, `${media}/${name}`);
    return { media, roots, verdict };
  };

  test("opens those and refuses the rest, the folder itself included", async () => {
    const { media, roots, verdict } = await open(["inbound", "tool-image-generation"]);
    expect(await verdict("inbound/a.txt")).toBe("open");
    expect(await verdict("tool-image-generation/a.txt")).toBe("open");
    expect(await verdict("outbound/a.txt")).toBe("outside_roots");
    expect(await verdict("INBOUND/a.txt")).toBe("outside_roots");
    expect(await verdict("loose.txt")).toBe("outside_roots");
    expect(await verdict("inbound/../outbound/a.txt")).toBe("dotdot");
    expect(await verdict("inbound")).toBe("is_directory");
    expect(await isOpen(roots, media)).toBe("outside_roots");
    expect(await isOpen(roots, "media://inbound/a.txt")).toBe("open");
    expect(await isOpen(roots, "media/inbound/a.txt")).toBe("open");
    expect(await isOpen(roots, "media/outbound/a.txt")).toBe("relative_path");
    await roots.close();
  });

  test("media:// reaches nothing when inbound is not among them", async () => {
    const { roots } = await open(["outbound"]);
    expect(await isOpen(roots, "media://inbound/a.txt")).toBe("outside_roots");
    expect(await isOpen(roots, "media/inbound/a.txt")).toBe("relative_path");
    await roots.close();
  });
});

describe("the private folder of a runtime", () => {
  const state = () => path.join(base, "srv/state");
  const privateFolders = () => [
    { folder: state(), mayHoldRoots: (name: string) => ["media", "workspace"].includes(name) },
  ];

  beforeEach(async () => {
    for (const folder of ["media", "workspace/out", "svc/accounts", "agents"]) {
      await mkdir(path.join(state(), folder), { recursive: true });
    }
    await symlink(path.join(base, "srv"), path.join(base, "to-srv"));
    await symlink(state(), path.join(base, "to-state"));
    await symlink(path.join(state(), "svc"), path.join(base, "to-svc"));
  });

  test.each([
    "srv",
    "srv/state",
    ...(HAS_LINKS ? ["to-srv", "to-state", "to-svc", "to-srv/state/svc"] : []),
    "srv/state/svc",
    "srv/state/svc/accounts",
    "srv/state/agents",
    "srv/state/media-evil",
    "srv/state/new",
  ])("%s is no root", async (folder) => {
    const refusal = createMediaRoots([path.join(base, folder)], { home, privateFolders: privateFolders() });
    await expect(refusal).rejects.toMatchObject({ code: "invalid_config", message: expect.stringContaining("state") });
  });

  test.each([
    "srv/state/media",
    "srv/state/media/inbound",
    "srv/state/workspace/out",
    "to-srv/state/media",
    "elsewhere",
  ])("%s is one", async (folder) => {
    const roots = await createMediaRoots([path.join(base, folder)], { home, privateFolders: privateFolders() });
    await roots.close();
  });

  test("is known by its configuration file too", async () => {
    await writeFile(path.join(state(), "openclaw.json"), "{}");
    await expect(createMediaRoots([state()], { home })).rejects.toMatchObject({ code: "invalid_config" });
  });

  test("its files are refused by name wherever a copy of them lies", async () => {
    const roots = await createMediaRoots([path.join(base, "srv")], { home });
    for (const name of ["openclaw.json", "Auth-Profiles.json", "credentials.json"]) {
      await writeFile(path.join(state(), "agents", name), "secret");
      expect(await isOpen(roots, path.join(state(), "agents", name))).toBe("denied_name");
    }
    await roots.close();
  });
});
