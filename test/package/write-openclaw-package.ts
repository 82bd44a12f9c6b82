import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { packForOpenClaw } from "./pack-for-openclaw.ts";
import { PACKAGE_ROOT } from "./read-package.ts";

// `npm run pack:openclaw`: leaves the tarball for OpenClaw in the project's folder.
const folder = await mkdtemp(join(tmpdir(), "svc-pack-openclaw-"));
try {
  const { path, files } = await packForOpenClaw(PACKAGE_ROOT, folder);
  await cp(path, join(PACKAGE_ROOT, basename(path)));
  process.stdout.write(`${basename(path)}: ${files.length} files\n`);
  process.stdout.write(`Next: openclaw plugins install ./${basename(path)} --force --accept-capabilities\n`);
} finally {
  await rm(folder, { recursive: true, force: true });
}
