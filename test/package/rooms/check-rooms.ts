import { PACKAGE_ROOT } from "../read-package.ts";
import { findViolations } from "./find-violations.ts";

/** Part of `npm run check`: prints every import that the table of rooms forbids, and fails when there is one. */
const violations = findViolations(PACKAGE_ROOT);
for (const { file, line, message } of violations) console.error(`${file}:${line} ${message}`);
if (violations.length > 0) process.exitCode = 1;
