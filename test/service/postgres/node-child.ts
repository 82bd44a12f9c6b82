import { readFileSync } from "node:fs";
import { builtInIntegrations } from "../../../src/apps/built-in.ts";
import { openService } from "../../../src/service/open-service.ts";
import type { ServiceOptions } from "../../../src/service/service-options.ts";
import { createLetterIntegration } from "../connections/sign-in/kit/letter-integration.ts";
import { ledgerIntegration } from "./ledger-integration.ts";

/**
 * One node: serves with the options given as JSON until it is killed or told to stop; says when it is ready. The variable
 * LETTERS holds the address of the API of the app `letter`; CLOCK a file with the time of its clock.
 */
const options = JSON.parse(process.argv[2] ?? "{}") as ServiceOptions;
const letter = createLetterIntegration({ apiUrl: process.env.LETTERS ?? "", tokenUrl: "" });
const { CLOCK: clock } = process.env;
const service = await openService({
  ...options,
  ...(clock !== undefined && { now: () => Number(readFileSync(clock, "utf8")) }),
  integrations: [...builtInIntegrations, ledgerIntegration, letter],
  log: ({ level, message, cause }) => {
    if (level === "error") console.error(message, cause);
  },
});
process.once("SIGTERM", () => void service.close());
console.log(JSON.stringify({ ready: true }));
