#!/usr/bin/env node
/** Checks the Node version before anything that needs it is loaded, then runs the command line. */

// Without a listener Node answers this signal with a debugger, through which any process of the user could run code here.
process.on("SIGUSR1", () => {});

// Node 22 calls SQLite experimental with each command, and nobody can do anything about it.
const { emitWarning } = process;
process.emitWarning = (warning: string | Error, ...more: unknown[]) => {
  if (!String(warning).startsWith("SQLite is an experimental feature"))
    Reflect.apply(emitWarning, process, [warning, ...more]);
};

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `svc needs Node 22.19 or newer and this is Node ${process.versions.node}: install a newer Node, or run it as "npx -p node@24 -p svc-agent-plugin svc".\n`,
  );
  process.exitCode = 1;
} else {
  // The built package only: sources are compiled from what they are now.
  if (import.meta.url.endsWith(".js")) (await import("./cli/compiled-code.ts")).keepCompiledCode(process.env);
  const { main } = await import("./cli/main.ts");
  process.exitCode = await main(process.argv);
}
