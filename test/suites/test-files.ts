/** The groups of test files that do not run like all others, as globs below the root. */

/** What only `npm run test:all` runs, in a few words. */
export const LONG_NAME =
  "long (what repeats, kills, races, fuzzes or needs minutes; OpenClaw, PostgreSQL, Dovecot, servers of files, Radicale)";

/** Tests that only `npm run test:all` runs. */
export const LONG_TESTS: string[] = [
  "test/{consumers,faults,fuzz,e2e/added-apps}/**/*.test.ts",
  "test/**/{dovecot,postgres,radicale}/**/*.test.ts",
  "test/apps/drive/servers/*.test.ts",
  "test/**/*.long.test.ts",
];

/** Tests of the service that talk to it only from outside, and so run on either store. */
export const ON_BOTH_STORES: string[] = [
  "test/service/{access,approvals,auth,catalog,http,mcp,metrics,notify,oauth,triggers}/**/*.test.ts",
  "test/service/executions/{account-and-lookup,canonical-executions,idempotency,offload,two-processes}.test.ts",
  "test/service/flows/flow-routes.test.ts",
  "test/service/added/open-sources.test.ts",
  "test/contract/*.test.ts",
];

/** Those of them that keep nothing where the service does, or bring their own server: a second run would be the same. */
export const ON_ONE_STORE: string[] = [
  "test/**/postgres/**/*.test.ts",
  "test/contract/{coverage,golden-exchange,plugin-*}.test.ts",
  "test/service/access/{kept-views,tool-patterns}.test.ts",
  "test/service/auth/registration/waiting-session.test.ts",
  "test/service/catalog/{catalog,ranking}.test.ts",
  "test/service/executions/two-processes.test.ts",
  "test/service/http/{body-pieces,list-errands,watch-client,whole-answer}.test.ts",
  "test/service/http/pages/exact-value.test.ts",
  "test/service/mcp/call-tool.test.ts",
  "test/service/notify/{kill.long,targets}.test.ts",
  "test/service/oauth/{access-token,oauth-records}.test.ts",
  "test/service/triggers/schedule.test.ts",
];

/** Tests that run under Windows' Node, one file after another, and take minutes. */
export const ON_WINDOWS = "test/windows/*.test.ts";

/** Tests of what Windows has not: special files, `openssl`, links that anybody may make. */
export const NOT_ON_WINDOWS: string[] = [
  "test/plugin/client/tls.test.ts",
  "test/plugin/media/attack-table.test.ts",
  "test/plugin/schema/two-zods.test.ts",
];

/** Tests that share one gateway, and so run one after another. */
export const IN_OPENCLAW = "test/e2e/openclaw/**/*.test.ts";

/** Tests of what a whole process has done: its memory, its modules, its environment. */
export const ALONE: string[] = [
  "test/hostile/service/wire.long.test.ts",
  "test/plugin/media/envelope-memory.test.ts",
  "test/plugin/media/open/other-spellings.test.ts",
  "test/plugin/pairing/credentials.test.ts",
  "test/plugin/runtimes/openclaw/{load,repair-params,svc-host}.test.ts",
  "test/service/files/disk-names.test.ts",
];
