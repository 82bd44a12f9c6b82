import { spawn } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

/**
 * Looks for faults of the service, and of whatever else is tested with generated input, for as long as a night. It goes
 * in rounds: each tries other input, drawn from the seed of the run and the number of the round, so that a run that was
 * stopped goes on where it was and a finding is found again. fast-check cuts each finding down to the input that matters.
 */
const HELP = `npm run fuzz:service -- [--hours 8] [--round-minutes 15] [--seed N] [--from ROUND] [--only PATH]

  --hours          how long to look; default 8
  --round-minutes  length of one round; default 15
  --seed           of an earlier run, to go on with it; default a new one
  --from           first round; default 1
  --only           tests to run; default test/fuzz and every test of a property
Exit code 1 when something was found.`;

const SUITES = ["test/fuzz", "test/hostile", "properties"];
/** How the tests of a round are told their length: the requests of all paths together take that long. */
const SECONDS_PER_MINUTE = 60;

interface Round {
  readonly number: number;
  readonly seed: number;
  readonly seconds: number;
  readonly suites: readonly string[];
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      hours: { type: "string", default: "8" },
      "round-minutes": { type: "string", default: "15" },
      seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 30)) },
      from: { type: "string", default: "1" },
      only: { type: "string", multiple: true },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return say(HELP, 0);
  const [hours, minutes, seed, from] = [values.hours, values["round-minutes"], values.seed, values.from].map(Number);
  if (![hours, minutes, seed, from].every((number) => number !== undefined && number >= 0)) return say(HELP, 2);
  const seconds = Math.max(1, (minutes ?? 0) * SECONDS_PER_MINUTE);
  const end = Date.now() + (hours ?? 0) * 3_600_000;
  say(`Seed ${seed}. Looking until ${new Date(end).toISOString()}, in rounds of about ${minutes} minutes.`);
  let findings = 0;
  for (let number = from ?? 1; Date.now() < end; number += 1) {
    const round = { number, seed: ((seed ?? 0) + number) % 2 ** 31, seconds, suites: values.only ?? SUITES };
    say(`Round ${number} at ${new Date().toISOString()}. To go on from here: --seed ${seed} --from ${number}`);
    const result = await runRound(round);
    if (result.isStopped) return say(`Stopped in round ${number}; ${findings} findings before it.`, 130);
    if (result.isClean) continue;
    findings += 1;
    say(await report(round, result.output));
  }
  return say(findings === 0 ? "Nothing found." : `${findings} rounds with findings.`, findings === 0 ? 0 : 1);
}

function runRound({ seed, seconds, suites }: Round) {
  const args = ["vitest", "run", "--config", "test/vitest.config.ts", "--project", "tests", ...suites];
  const env = { ...process.env, SVC_FUZZ_SECONDS: String(seconds), SVC_FUZZ_SEED: String(seed) };
  const child = spawn("npx", args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      output += String(chunk);
    });
  }
  return new Promise<{ isClean: boolean; isStopped: boolean; output: string }>((resolve) => {
    let isStopped = false;
    const stop = () => {
      isStopped = true;
      child.kill("SIGTERM");
    };
    process.once("SIGINT", stop).once("SIGTERM", stop);
    child.once("close", (code) => {
      process.off("SIGINT", stop).off("SIGTERM", stop);
      resolve({ isClean: code === 0, isStopped, output });
    });
  });
}

/** Where the whole output is, what was found, and how to find it again. */
async function report({ number, seed, seconds, suites }: Round, output: string): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), "svc-fuzz-")), `round-${number}.txt`);
  await writeFile(file, output);
  const found = output.split("\n").filter((line) => /FAIL|Counterexample|Caused by|seed:/.test(line));
  const again = `SVC_FUZZ_SECONDS=${seconds} SVC_FUZZ_SEED=${seed} npm run test:all -- ${suites.join(" ")}`;
  return [...found, `All of it: ${file}`, `To find it again: ${again}`].join("\n");
}

function say(text: string, code = 0): number {
  process.stdout.write(`${text}\n`);
  return code;
}

process.exitCode = await main();
