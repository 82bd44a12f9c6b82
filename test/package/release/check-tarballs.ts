import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeRelease } from "./make-release.ts";

// `npm run pack:check`: both packages as their users get them, from the tree as it is.
const work = await mkdtemp(join(tmpdir(), "svc-pack-check-"));
try {
  const folder = join(work, "release");
  await mkdir(folder);
  const { files, problems, sizes } = await makeRelease(folder, work, new Date(0).toISOString());
  for (const line of sizes) console.log(line);
  for (const problem of problems) console.error(problem);
  if (problems.length === 0) console.log(`Good, and the same bytes when built again: ${files.join(", ")}`);
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  await rm(work, { recursive: true, force: true });
}
