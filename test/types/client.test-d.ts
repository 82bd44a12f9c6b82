import { expectTypeOf } from "vitest";
import { SvcClient } from "../../src/plugin/client/client.ts";
import type { SvcClientOptions } from "../../src/plugin/client/client-options.ts";
import type { ExecuteReply } from "../../src/plugin/client/reply.ts";
import { isSvcError, SvcError, type SvcErrorCode } from "../../src/shared/errors.ts";
import type { Tool, ToolList } from "../../src/shared/wire/tool.ts";

// Options: only the address is required, and misspelled settings are refused.
expectTypeOf<{ baseUrl: string }>().toExtend<SvcClientOptions>();
expectTypeOf<{ baseUrl: string; apiKey: string | undefined }>().toExtend<SvcClientOptions>();
// @ts-expect-error baseUrl is required
new SvcClient({});
// @ts-expect-error there is no such setting
new SvcClient({ baseUrl: "http://127.0.0.1", apikey: "x" });

const client = new SvcClient({ baseUrl: "http://127.0.0.1" });
expectTypeOf(client.baseUrl).toEqualTypeOf<string>();
expectTypeOf(client.listTools).returns.resolves.toEqualTypeOf<ToolList>();
expectTypeOf(client.describeTool).parameter(0).toEqualTypeOf<string>();
expectTypeOf(client.describeTool).returns.resolves.toEqualTypeOf<Tool>();
expectTypeOf(client.executeTool).returns.resolves.toEqualTypeOf<ExecuteReply>();
// @ts-expect-error a search needs a query
void client.searchTools({ integration: "mail" });
// @ts-expect-error a canonical execution needs its input
void client.execute({ integration_id: "a", action_id: "b" });

// A reply is told apart by its kind alone.
declare const reply: ExecuteReply;
if (reply.kind === "bare") expectTypeOf(reply.error).toEqualTypeOf<string>();
if (reply.kind === "envelope") expectTypeOf(reply.envelope.ok).toEqualTypeOf<boolean>();
if (reply.kind === "summary") expectTypeOf(reply.summary.status).toEqualTypeOf<string>();
// @ts-expect-error an envelope is there only for its kind
reply.envelope;

// Error codes are a closed set, service codes an open one.
declare const thrown: unknown;
if (isSvcError(thrown)) {
  expectTypeOf(thrown).toEqualTypeOf<SvcError>();
  expectTypeOf(thrown.code).toEqualTypeOf<SvcErrorCode>();
  expectTypeOf(thrown.serviceCode).toEqualTypeOf<string | undefined>();
}
// @ts-expect-error not one of the codes
new SvcError("teapot", "…");
