import type { Command } from "commander";

/** One or two command lines for each command, as people type them after its words. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  demo: ["", "--model openai:gpt-5-mini"],
  serve: ["", "--approvals owner --notify ntfy:https://ntfy.sh/my-topic", "--config /etc/svc.env"],
  "login-link": [""],
  "notify test": [""],
  "log export": ["--from 2026-11-01 --file log.ndjson", "--tool mail_send_message --full"],
  backup: ["", "/mnt/backups/svc.tar.gz"],
  restore: ["svc-backup.tar.gz --check", "svc-backup.tar.gz --replace"],
  compact: [""],
  "add app": ["linear", "gitea --url https://git.example.org/api/v1 --private"],
  "add mcp": [
    "files -- npx -y @modelcontextprotocol/server-filesystem ~/Texts",
    "wiki --url https://wiki.example.org/mcp",
  ],
  "add openapi": ["github api.github.com.json --token", "shop shop.yaml --level 'list_*=read'"],
  review: ["files", "files --level 'search_*=read'"],
  remove: ["files"],
  "rules list": [""],
  "rules add": ["block 'mail/*'", "allow drive_upload_file"],
  "rules remove": ["rul_4f2a"],
  "rules test": ["mail_send_message"],
  "rules export": ["> rules.json"],
  "rules apply": ["rules.json"],
  "people list": [""],
  "people invite": ["Ada --role approver"],
  "people remove": ["Ada"],
  pair: ["--base-url https://svc.example.org", "--read-only --apps mail,notes"],
  move: ["https://svc.example.org"],
  install: ["--client claude-code", "--client codex --print"],
  mcp: ["--tools mail_search drive_list_files"],
  status: [""],
  doctor: [""],
  unpair: [""],
  tools: ["--integration mail", "--check"],
  integrations: ["--connected"],
  connect: ["mail"],
  search: ["send a mail"],
  describe: ["drive_upload_file"],
  call: [`notes_search --args '{"query":"budget"}'`, "drive_upload_file --file file=report.pdf"],
  undo: ["exe_k3m9x2p7qahd"],
  "flows templates": [""],
  "flows list": ["--limit 5"],
  "flows start": [`notes_reminder --input '{"text":"Water the plants"}'`],
  "flows watch": ["flow_4f2a"],
  "flows approve": ["flow_4f2a"],
  "flows resume": ["flow_4f2a"],
  "flows cancel": ["flow_4f2a"],
  completion: [`bash >> ~/.bashrc`],
};

/** Puts the examples into the help of every command below this one. */
export function addExamples(parent: Command, path: readonly string[] = []): void {
  for (const command of parent.commands) {
    const words = [...path, command.name()];
    const lines = EXAMPLES[words.join(" ")]?.map((rest) => `  svc ${words.join(" ")} ${rest}`.trimEnd());
    if (lines !== undefined) command.addHelpText("after", ["", "Examples:", ...lines].join("\n"));
    addExamples(command, words);
  }
}
