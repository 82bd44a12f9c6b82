/** One line that a promise of SECURITY.md rests on, broken, and the suite that has to notice. */
export interface Sabotage {
  /** What no longer holds. */
  readonly name: string;
  readonly file: string;
  readonly original: string;
  readonly sabotaged: string;
  /** How often `original` stands in the file; all of them are replaced. Default 1. */
  readonly times?: number;
  /** Test file of the project `tests`. */
  readonly suite: string;
}

const APPROVALS: readonly Sabotage[] = [
  {
    name: "approval: a model confirms its own call",
    file: "src/calls/steps/restore.ts",
    original: "    delete args[name];\n",
    sabotaged: "",
    suite: "test/calls/arguments.test.ts",
  },
  {
    name: "approval: an answer for another request counts",
    file: "src/calls/ask/request.ts",
    original: "decision.id !== request.id",
    sabotaged: "decision.id === undefined",
    suite: "test/calls/ask/decide.test.ts",
  },
  {
    name: "approval: an answer for other arguments counts",
    file: "src/calls/ask/request.ts",
    original: "decision.fingerprint !== request.fingerprint",
    sabotaged: "decision.fingerprint === undefined",
    suite: "test/calls/ask/decide.test.ts",
  },
  {
    name: "approval: an answer counts twice",
    file: "src/calls/ask/request.ts",
    original: "options.spent.has(request.id)",
    sabotaged: "options.spent.size < 0",
    suite: "test/calls/ask/decide.test.ts",
  },
  {
    name: "approval: an expired answer counts",
    file: "src/calls/ask/request.ts",
    original: "!(options.now < expiresAt)",
    sabotaged: "Number.isNaN(expiresAt)",
    suite: "test/calls/ask/decide.test.ts",
  },
  {
    name: "approval: the digest of a file is not part of the fingerprint",
    file: "src/calls/ask/fingerprint.ts",
    original: "return { field, name, mimetype, size, md5, sha256 };",
    sabotaged: "return { field, name, mimetype, size };",
    suite: "test/calls/ask/fingerprint.test.ts",
  },
  {
    name: "approval: the account is not part of the fingerprint",
    file: "src/calls/ask/fingerprint.ts",
    original: "connection: connection ?? null",
    sabotaged: "connection: null",
    suite: "test/calls/ask/fingerprint.test.ts",
  },
  {
    name: "approval: the effect is not part of the fingerprint",
    file: "src/calls/ask/fingerprint.ts",
    original: "...(effect === undefined ? {} : { effect }),",
    sabotaged: "",
    suite: "test/calls/ask/fingerprint.test.ts",
  },
  {
    name: "approval: a standing permission covers deletions",
    file: "src/calls/ask/standing-rules.ts",
    original: '(effect === "write" || effect === "read")',
    sabotaged: 'effect !== "admin"',
    suite: "test/calls/ask/standing-rules.test.ts",
  },
  {
    name: "approval: a standing permission covers every account",
    file: "src/calls/ask/standing-rules.ts",
    original: " && rule.connection === subject.connection",
    sabotaged: "",
    suite: "test/calls/ask/standing-rules.test.ts",
  },
  {
    name: "approval: a standing permission covers a tool that changed behind its pin",
    file: "src/calls/steps/approve.ts",
    original: "if (findPinObjection(context, entry) !== undefined) return false;",
    sabotaged: "",
    suite: "test/calls/catalog/pins.test.ts",
  },
  {
    name: "approval: the approver may prolong its own question",
    file: "src/calls/steps/approve.ts",
    original: "approver(structuredClone(request), { signal })",
    sabotaged: "approver(request, { signal })",
    suite: "test/calls/approval-binding.test.ts",
  },
  {
    name: "card: bidirectional controls are shown as they are",
    file: "src/wire/plain-text.ts",
    original: "[\\\\p{Cc}\\\\p{Cf}\\\\p{Zl}\\\\p{Zp}\\\\p{Cs}\\\\p{Default_Ignorable_Code_Point}\\\\u2800]",
    sabotaged: "[\\\\p{Cc}\\\\p{Zl}\\\\p{Zp}\\\\p{Cs}\\\\u2800]",
    suite: "test/hostile/approval-cards.test.ts",
  },
  {
    name: "card: a value can close the fence it stands in",
    file: "src/wire/card-layout.ts",
    original: "/(?<=``)`/g",
    sabotaged: "/(?<=``````)`/g",
    suite: "test/hostile/chat-cards.test.ts",
  },
  {
    name: "card: values stand where labels do",
    file: "src/wire/card-layout.ts",
    original: 'const GUTTER = " │ ";',
    sabotaged: 'const GUTTER = "   ";',
    suite: "test/hostile/terminal-cards.test.ts",
  },
  {
    name: "limit: tools that a program does not allow are found and called",
    file: "src/calls/catalog/limit-catalog.ts",
    original: "entry !== undefined && isAllowed(entry, allowed) ? entry : undefined;",
    sabotaged: "entry;",
    suite: "test/calls/catalog/allowed-tools.test.ts",
  },
];

const REPETITIONS: readonly Sabotage[] = [
  {
    name: "repetition: it goes out although the tool deletes now",
    file: "src/calls/steps/send/keyed.ts",
    original: "if (effect !== approved.effect)",
    sabotaged: "if (effect === undefined)",
    suite: "test/calls/keyed-changes.test.ts",
  },
  {
    name: "repetition: it goes out after the approval has expired",
    file: "src/calls/steps/send/keyed.ts",
    original: "now >= approved.until",
    sabotaged: "now < 0",
    suite: "test/calls/keyed-changes.test.ts",
  },
  {
    name: "repetition: it goes out after the permission was taken back",
    file: "src/calls/steps/send/keyed.ts",
    original: "context.rules.allows(subject) ? undefined",
    sabotaged: "context.rules !== undefined ? undefined",
    suite: "test/calls/keyed-changes.test.ts",
  },
  {
    name: "repetition: a request does not name the account that was approved",
    file: "src/calls/steps/send/keyed.ts",
    original: "...(approved?.namesAccount === true ? { connection_id: approved.account?.id } : {}),",
    sabotaged: "",
    suite: "test/calls/keyed-changes.test.ts",
  },
  {
    name: "repetition: a key stands for any account",
    file: "src/service/executions/canonical-executions.ts",
    original: "call.connectionId === undefined ? [] : [call.connectionId]",
    sabotaged: "call.connectionId === undefined ? [] : []",
    suite: "test/service/executions/account-and-lookup.test.ts",
  },
  {
    name: "repetition: a call that another process sent is sent again",
    file: "src/calls/journal/journal-record.ts",
    original: "return !known.some(({ state, at }) => state === found.state && at === found.at);",
    sabotaged: "return known.length < 0;",
    suite: "test/calls/journal/journal-begin.test.ts",
  },
  {
    name: "repetition: a graph's checkpoint does not keep what a call did",
    file: "src/runtimes/langchain/graph-task.ts",
    original: "return { result: await task(kind, runStep)(), isFresh };",
    sabotaged: "return { result: await runStep(), isFresh };",
    suite: "test/runtimes/langchain/replayed-answers.test.ts",
  },
  {
    name: "approval: the answer to another question of a graph counts",
    file: "src/runtimes/langchain/interrupt-answer.ts",
    original: "if (isPlain && shown.earlier.includes(digest(value))) {",
    sabotaged: "if (isPlain && shown.earlier.length < 0) {",
    suite: "test/runtimes/langchain/calls-in-nodes.test.ts",
  },
];

const FILES: readonly Sabotage[] = [
  {
    name: "files: a link on the way is followed",
    file: "src/media/open/open-below-root.ts",
    original: "const NAME_ONLY = O_PATH | constants.O_NOFOLLOW;",
    sabotaged: "const NAME_ONLY = O_PATH;",
    suite: "test/media/attack-table.test.ts",
  },
  {
    name: "files: a file with a second name is read",
    file: "src/media/open/open-below-root.ts",
    original: '  if (stats.nlink !== 1n) return "hardlink";\n',
    sabotaged: "",
    suite: "test/media/attack-table.test.ts",
  },
  {
    name: "files: a named pipe is opened",
    file: "src/media/open/open-below-root.ts",
    original: '  if (!stats.isFile()) return "not_regular";\n',
    sabotaged: "",
    suite: "test/media/attack-table.test.ts",
  },
  {
    name: "files: names of secrets are read",
    file: "src/media/open/denied-names.ts",
    original: "    PRIVATE_KEY.test(name)\n",
    sabotaged: "    false\n",
    suite: "test/media/attack-table.test.ts",
  },
  {
    name: "files: bytes that changed after the approval are sent",
    file: "src/media/send/send-files.ts",
    original: "piece.tag !== file.pieces[index]",
    sabotaged: "piece.tag === undefined",
    suite: "test/media/send/send-files.test.ts",
  },
  {
    name: "files: the folder of a runtime's state is a media folder",
    file: "src/media/open/roots.ts",
    original: "if (isSameOrBelow(state, resolved))",
    sabotaged: "if (state === resolved)",
    suite: "test/media/open/roots.test.ts",
  },
  {
    name: "files: an upload goes to another host",
    file: "src/media/send/upload-hint.ts",
    original: "url.origin !== base.origin",
    sabotaged: 'url.origin === "null"',
    suite: "test/media/send/upload-hint.test.ts",
  },
  {
    name: "files: an upload takes another file of this machine",
    file: "src/media/send/upload-hint.ts",
    original: "spellFile(reference).find(",
    sabotaged: "spellFile(/--data-binary '@([^']*)/.exec(joined)?.[1] ?? reference).find(",
    suite: "test/media/send/upload-hint.test.ts",
  },
  {
    name: "files: a folder of the system is a media folder",
    file: "src/media/open/roots.ts",
    original: "SYSTEM_FOLDERS.includes(resolved) || ",
    sabotaged: "",
    suite: "test/media/open/roots.test.ts",
  },
];

const KEYS_AND_NETWORK: readonly Sabotage[] = [
  {
    name: "key: plain http carries it across the network",
    file: "src/client/base-url.ts",
    original: "!isLoopbackHost(url.hostname) && !allowInsecure",
    sabotaged: "url.hostname === '' && !allowInsecure",
    suite: "test/client/base-url.test.ts",
  },
  {
    name: "key: it stands in error texts",
    file: "src/client/redact.ts",
    original: "svc_live_[A-Za-z0-9_-]{4,}",
    sabotaged: "svc_live_[A-Za-z0-9_-]{4000,}",
    suite: "test/client/redact.test.ts",
  },
  {
    name: "key: a file that others can read is used",
    file: "src/pairing/secret-file.ts",
    original: "(stats.mode & 0o077) !== 0",
    sabotaged: "(stats.mode & 0o007) !== 0",
    suite: "test/pairing/credentials.test.ts",
  },
  {
    name: "network: a name that leads to a private address is fetched",
    file: "src/service/fetch/guarded-connector.ts",
    original: "if (![first, ...others].every(({ address }) => isPublicAddress(address))) throw refuseBlocked();",
    sabotaged: "",
    suite: "test/service/fetch/guard.test.ts",
  },
  {
    name: "network: an address of a cloud's own services is public",
    file: "src/service/fetch/address-rules.ts",
    original: '  ["169.254.0.0", 16],\n',
    sabotaged: "",
    suite: "test/service/fetch/address-rules.test.ts",
  },
];

const SERVICE: readonly Sabotage[] = [
  {
    name: "service: an unconfirmed write runs",
    file: "src/service/executions/execute-tool.ts",
    original: "entry.action.requiresConfirmation && !call.confirmed",
    sabotaged: "entry.action.requiresConfirmation && call.confirmed === undefined",
    suite: "test/contract/execute.test.ts",
  },
  {
    name: "service: a revoked key works",
    file: "src/service/auth/api-keys.ts",
    original: '.where("key_hash", "=", hashSecret(sent))\n        .where("revoked_at", "is", null)',
    sabotaged: '.where("key_hash", "=", hashSecret(sent))',
    suite: "test/contract/access.test.ts",
  },
  {
    name: "service: a sign-in link works twice",
    file: "src/service/auth/owner-sessions.ts",
    original:
      '.set({ used_at: at() })\n        .where("link_hash", "=", hashSecret(linkSecret))\n        .where("used_at", "is", null)',
    sabotaged: '.set({ used_at: at() })\n        .where("link_hash", "=", hashSecret(linkSecret))',
    suite: "test/service/http/pages/pages.test.ts",
  },
  {
    name: "service: a pairing nobody approved is exchanged",
    file: "src/service/auth/registration/pairing.ts",
    original: '      .where("status", "=", "approved")\n',
    sabotaged: "",
    suite: "test/service/auth/registration/pairing.test.ts",
  },
  {
    name: "service: a pairing is exchanged with any verifier",
    file: "src/service/auth/registration/pairing.ts",
    original: "!isSameHash(hashSecret(verifier), session.verifier_hash)",
    sabotaged: 'verifier === ""',
    suite: "test/service/auth/registration/pairing.test.ts",
  },
  {
    name: "service: it answers under the name of another web site",
    file: "src/service/http/request.ts",
    original: "host === undefined || !parts.allowedHosts.has(host)",
    sabotaged: "host === undefined",
    suite: "test/service/http/guards.test.ts",
  },
  {
    name: "service: it takes requests that another web site has a browser send",
    file: "src/service/http/request.ts",
    original: 'site !== null && site !== "same-origin" && site !== "none"',
    sabotaged: "site === undefined",
    suite: "test/service/http/guards.test.ts",
  },
  {
    name: "service: a form of another page counts",
    file: "src/service/http/owner-browser.ts",
    original: '!isSameHash(form.get("csrf") ?? "", owner.csrfToken)',
    sabotaged: 'form.get("csrf") === "never"',
    suite: "test/service/http/pages/pages.test.ts",
  },
  {
    name: "service: an upload token works twice",
    file: "src/service/files/ingest-tokens.ts",
    original: "if (!(await options.spend(claims.jti, claims.exp))) return undefined;",
    sabotaged: "await options.spend(claims.jti, claims.exp);",
    suite: "test/service/files/ingest.test.ts",
  },
  {
    name: "service: an upload token of anybody works",
    file: "src/service/files/ingest-tokens.ts",
    original: "given.length !== wanted.length || !timingSafeEqual(given, wanted)",
    sabotaged: "given.length !== wanted.length",
    suite: "test/service/files/ingest.test.ts",
  },
  {
    name: "service: a sealed secret opens in another place",
    file: "src/service/secrets/secret-box.ts",
    original: ".setAAD(Buffer.from(place))",
    sabotaged: "",
    times: 2,
    suite: "test/service/secrets/secret-box.test.ts",
  },
  {
    name: "service: OAuth answers go to plain http addresses",
    file: "src/service/oauth/client-rules.ts",
    original: 'url.protocol !== "http:" || LOOPBACK.has(url.hostname)',
    sabotaged: "url.hostname !== ''",
    suite: "test/service/oauth/oauth.test.ts",
  },
  {
    name: "service: an idempotency key stands for any input",
    file: "src/service/executions/canonical-executions.ts",
    original: "if (known.inputHash === use.inputHash) return awaitEnd",
    sabotaged: "if (known.inputHash !== undefined) return awaitEnd",
    suite: "test/service/executions/idempotency.test.ts",
  },
  {
    name: "service: of two equal requests at once both run",
    file: "src/service/executions/idempotency-keys.ts",
    original: "if (claimed === undefined) throw new ServiceError",
    sabotaged: "if (claimed === null) throw new ServiceError",
    suite: "test/service/executions/two-processes.test.ts",
  },
  {
    name: "service: what a human agreed to over MCP counts for another request",
    file: "src/service/mcp/open-call.ts",
    original: "hashInput([message.method, params.name ?? null, params.arguments ?? {}])",
    sabotaged: "hashInput([message.method])",
    suite: "test/service/mcp/approval.test.ts",
  },
  {
    name: "service: pages open outside of the path that only the owner's browser knows",
    file: "src/service/http/owner-browser.ts",
    original: "readSessionPath(c.req.url) !== findSessionPath(parts, secret)",
    sabotaged: 'findSessionPath(parts, secret) === "never"',
    suite: "test/service/http/pages/pages.test.ts",
  },
  {
    name: "service: a started program inherits every variable",
    file: "src/service/added/mcp/connect-mcp.ts",
    original: 'return isListed && value !== undefined && !value.startsWith("()")',
    sabotaged: "return isListed !== undefined && value !== undefined",
    suite: "test/service/added/mcp/child-environment.test.ts",
  },
  {
    name: "service: a credential of an OpenAPI document is an argument of the model",
    file: "src/service/added/openapi/credential-plan.ts",
    original: 'if (verdict === "no" || (verdict === "maybe" && !isShared)) return undefined;',
    sabotaged: "if (verdict !== undefined || isShared) return undefined;",
    suite: "test/service/added/openapi/credentials.test.ts",
  },
  {
    name: "service: a human's yes over MCP counts for another account",
    file: "src/service/mcp/tools/execution-tools.ts",
    original: "asked.shown === shown",
    sabotaged: "asked.shown !== null",
    suite: "test/service/mcp/approval.test.ts",
  },
  {
    name: "service: a link leads to the address of an app that nobody approved",
    file: "src/service/oauth/create-provider.ts",
    original: '    ctx.remove("location");\n',
    sabotaged: "    if (ctx.status > 0) return;\n",
    suite: "test/service/oauth/oauth.test.ts",
  },
  {
    name: "service: mail goes to an address that a human reads in another way",
    file: "src/service/integrations/mail/mail-address.ts",
    original: "forms.includes(given)",
    sabotaged: "forms.length > 0",
    suite: "test/service/integrations/mail/dovecot/mail-addresses.test.ts",
  },
];

/** Every sabotage, by subject. */
export const SABOTAGES: readonly Sabotage[] = [...APPROVALS, ...REPETITIONS, ...FILES, ...KEYS_AND_NETWORK, ...SERVICE];
