import { readSources } from "../../../bench/house/read-sources.ts";
import { PACKAGE_ROOT } from "../read-package.ts";
import { findUndocumented } from "./find-undocumented.ts";

/** Part of `npm run check`: prints every export of `src` without a doc comment, and fails when there is one. */
const undocumented = findUndocumented(readSources(PACKAGE_ROOT));
for (const { file, line, message } of undocumented) console.error(`${file}:${line} ${message}`);
if (undocumented.length > 0) process.exitCode = 1;
