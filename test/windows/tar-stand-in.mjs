// Windows 10 has a tar.exe, Wine has none: loaded by `NODE_OPTIONS=--import`, this takes its place.
import childProcess from "node:child_process";
import { createRequire, syncBuiltinESMExports } from "node:module";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(import.meta.url);
const { spawn } = childProcess;
childProcess.spawn = (file, args, options) =>
  file === "tar" ? spawn(process.execPath, [here, ...args], options) : spawn(file, args, options);
syncBuiltinESMExports();

if (process.argv[1] === here) {
  const tar = createRequire("file:///Z:/node_modules/")("tar");
  const [flags] = process.argv.slice(2);
  const cwd = process.argv[process.argv.indexOf("-C") + 1];
  const onReadEntry = ({ type, path }) =>
    console.log(`${type === "Directory" ? "d" : "-"}rw------- 0/0 0 2026-01-01 ${path}`);
  const [from, to] = flags.includes("c")
    ? [tar.c({ gzip: true, cwd, portable: true }, ["."]), process.stdout]
    : [process.stdin, flags.includes("t") ? tar.t({ onReadEntry }) : tar.x({ cwd })];
  from.pipe(to).on("error", (error) => {
    console.error(String(error));
    process.exitCode = 2;
  });
}
