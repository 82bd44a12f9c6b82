import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UNSHARE, UNSHARE_FLAGS } from "../faults/other-disks/disks.ts";
import { WINE_ENV, WINE_ROOT } from "./wine-place.ts";

/**
 * Unpacks the Wine of Debian 13, which runs Node 24 (that of Debian 12 does not), with the libraries that a program without
 * windows loads. Nothing of it is installed on this machine.
 */
const RELEASE = "trixie";
const PACKAGES = ["wine64", "libwine", "libz-mingw-w64", "libc6", "libgcc-s1", "liblzma5", "libunwind8"];
/** Without fonts Wine complains on standard error; with them it shows windows while it makes its drive. */
const FONTS = ["libfreetype6", "libpng16-16t64", "zlib1g", "libbrotli1", "libbz2-1.0"];
const KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg";

const run = (file: string, args: readonly string[], cwd = WINE_ROOT) =>
  execFileSync(file, [...args], { cwd, stdio: ["ignore", "pipe", "inherit"], encoding: "utf8" });

/** The mirror of Debian that this machine uses. */
function findMirror(): string {
  const targets = run("apt-get", ["indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Label: Debian"]);
  const [mirror] = targets.split("\n");
  if (!mirror) throw new Error('No mirror of Debian: "apt-get update" first, on a Debian.');
  return mirror;
}

/** Loads the packages into `folder`, by an apt that knows nothing of this machine's packages. */
function download(folder: string): void {
  mkdirSync(join(folder, "lists/partial"), { recursive: true });
  writeFileSync(join(folder, "status"), "");
  writeFileSync(join(folder, "sources.list"), `deb [signed-by=${KEYS}] ${findMirror()} ${RELEASE} main\n`);
  const settings = [
    `Dir::State=${folder}`,
    `Dir::State::status=${join(folder, "status")}`,
    `Dir::State::lists=${join(folder, "lists")}`,
    `Dir::Cache=${folder}`,
    `Dir::Etc::sourcelist=${join(folder, "sources.list")}`,
    "Dir::Etc::sourceparts=/dev/null",
    "Acquire::Languages=none",
    "APT::Sandbox::User=root",
  ].flatMap((setting) => ["-o", setting]);
  run("apt-get", [...settings, "-qq", "update"]);
  run("apt-get", [...settings, "-qq", "download", ...PACKAGES, ...FONTS], folder);
}

/** Wine finds a library of its own by these bytes; Debian writes them into zlib when it is installed. */
function markZlib(): void {
  const from = join(WINE_ROOT, "usr/x86_64-w64-mingw32/lib");
  for (const name of readdirSync(from).filter((one) => /^zlib.*\.dll$/.test(one))) {
    const bytes = readFileSync(join(from, name));
    bytes.write("Wine builtin DLL".padEnd(32, "\0"), 64, "latin1");
    writeFileSync(join(WINE_ROOT, "usr/lib/x86_64-linux-gnu/wine/x86_64-windows", name), bytes);
  }
}

/** Wine asks the system where `localhost` is; Windows knows it by itself. */
function nameLocalhost(): void {
  mkdirSync(join(WINE_ROOT, "etc"), { recursive: true });
  writeFileSync(join(WINE_ROOT, "etc/hosts"), "127.0.0.1 localhost\n::1 localhost\n");
}

/** Makes the drive C: of Windows, and its registry. */
function makePrefix(): void {
  const wine = (...words: string[]) => `chroot "$0" /usr/lib/wine/${words.join(" ")}`;
  const script = `mount --rbind /sys "$0/sys" && mount --rbind /dev "$0/dev" && mount -t proc proc "$0/proc" || exit 1
    ${wine("wine64", "wineboot", "-i")}; ${wine("wineserver64", "-k")}; ${wine("wineserver64", "-w")}`;
  execFileSync(UNSHARE, [...UNSHARE_FLAGS, "bash", "-c", script, WINE_ROOT], {
    stdio: "ignore",
    env: { ...process.env, ...WINE_ENV, USER: "wine" },
  });
}

if (!existsSync(join(WINE_ROOT, "prefix/system.reg"))) {
  rmSync(WINE_ROOT, { recursive: true, force: true });
  const folders = ["dev", "proc", "sys", "tmp", "home", "prefix", "run/user/0", "packages"];
  for (const folder of folders) mkdirSync(join(WINE_ROOT, folder), { recursive: true, mode: 0o700 });
  const packages = join(WINE_ROOT, "packages");
  download(packages);
  const unpack = (wanted: readonly string[]) => {
    for (const name of readdirSync(packages)) {
      if (wanted.some((one) => name.startsWith(`${one}_`))) run("dpkg-deb", ["-x", join(packages, name), WINE_ROOT]);
    }
  };
  unpack(PACKAGES);
  for (const folder of ["bin", "lib", "lib64"]) symlinkSync(`usr/${folder}`, join(WINE_ROOT, folder));
  markZlib();
  nameLocalhost();
  makePrefix();
  unpack(FONTS);
  rmSync(packages, { recursive: true });
}
console.log(`Wine is in ${WINE_ROOT}.`);
