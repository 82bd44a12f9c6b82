import { describe, expect, test } from "vitest";
import type { ZodType } from "zod";
import {
  actionDetailSchema,
  actionItemSchema,
  catalogSearchItemSchema,
  integrationItemSchema,
  integrationPageSchema,
  sideEffectLevelSchema,
} from "../../../src/shared/wire/catalog.ts";
import {
  canonicalExecuteRequestSchema,
  connectionIdSchema,
  executionEnvelopeSchema,
  executionStatusSchema,
  executionSummarySchema,
  recommendedNextActionSchema,
  toolErrorSchema,
  toolExecuteRequestSchema,
} from "../../../src/shared/wire/execution.ts";
import { fileAttachmentSchema, fileUploadableSchema, ingestReplySchema } from "../../../src/shared/wire/file.ts";
import {
  flowApproveRequestSchema,
  flowSchema,
  flowStartReplySchema,
  flowStartRequestSchema,
  flowStepSchema,
  flowTemplateSchema,
} from "../../../src/shared/wire/flow.ts";
import { rpcErrorSchema, rpcRequestSchema, serverCardSchema } from "../../../src/shared/wire/mcp.ts";
import {
  bootstrapInstallSchema,
  bootstrapPollReplySchema,
  bootstrapStartReplySchema,
  pairExchangeReplySchema,
  pairExchangeRequestSchema,
  pairStartReplySchema,
  pairStartRequestSchema,
} from "../../../src/shared/wire/registration.ts";
import { toolListSchema, toolSchema, toolSearchSchema } from "../../../src/shared/wire/tool.ts";
import { readGoldenObject } from "../../contract/read-golden.ts";
import { verifies } from "../../contract/verifies.ts";

type Case = readonly [why: string, schema: ZodType, value: unknown];

const ACCEPTED: readonly Case[] = [
  ["a tool of nulls only (truncation notice)", toolSchema, { integration: null, name: null, inputSchema: null }],
  ["a tool whose inputSchema is a placeholder", toolSchema, { name: "a_b", inputSchema: {} }],
  ["a list of tools alone", toolListSchema, { tools: [] }],
  ["an envelope with null members", executionEnvelopeSchema, { ok: false, error: null, hint: null, details: null }],
  ["an error without type and retryable", executionEnvelopeSchema, { ok: false, error: { code: "x", message: "y" } }],
  ["a summary of a status alone", executionSummarySchema, { status: "blocked", execution_id: null }],
  ["a summary with an unlisted code", executionSummarySchema, { status: "failed", error_code: "brand_new" }],
  ["an integer connectionId", connectionIdSchema, 42],
  ["a string connectionId", connectionIdSchema, "conn_42"],
  ["an execute request without anything", toolExecuteRequestSchema, {}],
  ["an integration without state", integrationItemSchema, { integration_id: "mail", connection_state: null }],
  ["an action detail without optional members", actionDetailSchema, { action_id: "a", input_schema: null }],
  [
    "a step with an unlisted status",
    flowStepSchema,
    { stepKey: "a", stepIndex: 0, stepType: "wait", status: "napping" },
  ],
  ["a flow without optional members", flowSchema, { id: "1", status: "pending" }],
  ["a notification without id", rpcRequestSchema, { jsonrpc: "2.0", method: "initialize" }],
  ["a card of the required members", serverCardSchema, { name: "n", version: "1", description: "d" }],
  ["a pairing start without body members", pairStartRequestSchema, {}],
  ["a string apiKeyId and no session", pairExchangeReplySchema, { apiKey: "svc_live_a", apiKeyId: "k1" }],
  ["a poll answer of a status alone", bootstrapPollReplySchema, { status: "pending" }],
  ["an ingest answer of a key alone", ingestReplySchema, { s3key: "a/b" }],
  ["an action item of an id alone", actionItemSchema, { action_id: "send" }],
  [
    "a found integration without action",
    catalogSearchItemSchema,
    { kind: "integration", integration_id: "mail", action_id: null },
  ],
  ["a next action without known input", recommendedNextActionSchema, { tool: "svc.connect_app", input: {} }],
  ["an error object of an unlisted type", toolErrorSchema, { code: "a", message: "b", type: "astronomy" }],
  ["a template of a key alone", flowTemplateSchema, { key: "mail-summary" }],
  ["an approval without a step", flowApproveRequestSchema, {}],
  ["a JSON-RPC error with data", rpcErrorSchema, { code: -32000, message: "a", data: [1] }],
];

const REFUSED: readonly Case[] = [
  ["a tool whose name is a number", toolSchema, { name: 5 }],
  ["a list whose tools are no array", toolListSchema, { tools: {} }],
  ["a list without tools", toolListSchema, { count: 0 }],
  ["an envelope without ok", executionEnvelopeSchema, { result: 1 }],
  ["an envelope whose ok is text", executionEnvelopeSchema, { ok: "true" }],
  ["an error without code", executionEnvelopeSchema, { ok: false, error: { message: "y" } }],
  ["an error without message", executionEnvelopeSchema, { ok: false, error: { code: "x" } }],
  ["a summary without status", executionSummarySchema, { execution_id: "e" }],
  ["a status the document does not have", executionStatusSchema, "running"],
  ["a fractional connectionId", connectionIdSchema, 1.5],
  ["a connectionId of null", connectionIdSchema, null],
  ["arguments that are an array", toolExecuteRequestSchema, { arguments: [] }],
  ["confirmed as text", toolExecuteRequestSchema, { confirmed: "true" }],
  ["files that are no array", toolExecuteRequestSchema, { files: {} }],
  ["a canonical request without input", canonicalExecuteRequestSchema, { integration_id: "a", action_id: "b" }],
  [
    "a canonical request with array input",
    canonicalExecuteRequestSchema,
    { integration_id: "a", action_id: "b", input: [] },
  ],
  [
    "a canonical request with an empty id",
    canonicalExecuteRequestSchema,
    { integration_id: "", action_id: "b", input: {} },
  ],
  ["a level the document does not have", sideEffectLevelSchema, "execute"],
  ["a trigger the document does not have", flowStartRequestSchema, { flowTemplate: "a", triggerType: "cron" }],
  ["a flow start without template", flowStartRequestSchema, { input: {} }],
  ["a step without index", flowStepSchema, { stepKey: "a", stepType: "wait", status: "x" }],
  ["another JSON-RPC version", rpcRequestSchema, { jsonrpc: "1.0", method: "a" }],
  ["a JSON-RPC request without method", rpcRequestSchema, { jsonrpc: "2.0", id: 1 }],
  ["a card without description", serverCardSchema, { name: "n", version: "1" }],
  ["an exchange without verifier", pairExchangeRequestSchema, {}],
  ["an exchange with an empty verifier", pairExchangeRequestSchema, { verifier: "" }],
  ["an exchange answer without key", pairExchangeReplySchema, { apiKeyId: 1 }],
  [
    "a bootstrap answer without poll_url",
    bootstrapStartReplySchema,
    { session_id: "a", approval_url: "b", expires_at: "c" },
  ],
  ["an ingest answer without s3key", ingestReplySchema, { name: "a" }],
  ["an action item without id", actionItemSchema, { title: "Send" }],
  ["a found item without kind", catalogSearchItemSchema, { integration_id: "mail" }],
  ["a next action without input", recommendedNextActionSchema, { tool: "svc.connect_app" }],
  ["force_reconnect as text", recommendedNextActionSchema, { tool: "a", input: { force_reconnect: "true" } }],
  ["retryable as text", toolErrorSchema, { code: "a", message: "b", retryable: "no" }],
  ["a template without key", flowTemplateSchema, { name: "Mail" }],
  ["a stepKey that is a number", flowApproveRequestSchema, { stepKey: 1 }],
  ["a JSON-RPC error code as text", rpcErrorSchema, { code: "-32000", message: "a" }],
  ["an install configuration without headers", bootstrapInstallSchema, { server_name: "svc", url: "http://a" }],
];

describe("wire shapes", () => {
  test.each(ACCEPTED)("accept %s", (_why, schema, value) => {
    expect(schema.safeParse(value).error).toBeUndefined();
  });

  test.each(REFUSED)("refuse %s", (_why, schema, value) => {
    expect(schema.safeParse(value).success).toBe(false);
  });

  test("need all four strings of a pairing start", () => {
    const reply = readGoldenObject("resources/pair-start-minimal");
    for (const member of ["sessionToken", "pairUrl", "verifier", "expiresAt"]) {
      const { [member]: _left, ...rest } = reply;
      expect(pairStartReplySchema.safeParse(rest).success, member).toBe(false);
    }
  });

  test("need all five strings of a files entry, none of them empty", () => {
    const entry = { pointer: "p", name: "n", mimetype: "text/plain", md5: "0", dataBase64: "YQ==" };
    expect(fileAttachmentSchema.parse(entry)).toEqual(entry);
    for (const member of Object.keys(entry)) {
      expect(fileAttachmentSchema.safeParse({ ...entry, [member]: undefined }).success, member).toBe(false);
      expect(fileAttachmentSchema.safeParse({ ...entry, [member]: "" }).success, member).toBe(false);
      expect(fileAttachmentSchema.safeParse({ ...entry, [member]: 7 }).success, member).toBe(false);
    }
  });

  test("need the three strings of a file-uploadable object", () => {
    const file = { name: "n", mimetype: "text/plain", s3key: "k" };
    expect(fileUploadableSchema.parse(file)).toEqual(file);
    for (const member of Object.keys(file)) {
      expect(fileUploadableSchema.safeParse({ ...file, [member]: undefined }).success, member).toBe(false);
    }
  });

  test("a schema sent as the text of one is read, once; other text is no schema", () => {
    const inputSchema = { type: "object", properties: { id: { type: "integer" } } };
    const text = JSON.stringify(inputSchema);
    expect(toolSchema.parse({ name: "a_b", inputSchema: text })).toEqual({ name: "a_b", inputSchema });
    expect(actionDetailSchema.parse({ action_id: "a", input_schema: text }).input_schema).toEqual(inputSchema);
    for (const other of [JSON.stringify(text), "[]", "{", " ".repeat(1024 * 1024) + text]) {
      expect(toolSchema.parse({ name: "a_b", inputSchema: other }).inputSchema).toBeNull();
    }
  });

  test("keep a tool whose optional parts are malformed", () => {
    verifies("tool.unknown-properties-kept", "tool.nullables-accepted");
    expect(toolSchema.parse({ name: "a_b", inputSchema: "soon", canonical: 4, extra: [1] })).toEqual({
      name: "a_b",
      inputSchema: null,
      canonical: undefined,
      extra: [1],
    });
    expect(toolSchema.parse({ integration: null, name: null, description: "2 more", inputSchema: null })).toEqual({
      integration: null,
      name: null,
      description: "2 more",
      inputSchema: null,
    });
  });

  test("keep an action, and what it does, whatever its optional parts are", () => {
    const action = { action_id: "a", side_effect_level: "delete" };
    const odd = {
      title: 5,
      description: {},
      input_schema: "soon",
      input_summary: null,
      requires_confirmation: null,
      examples: {},
      preconditions: 5,
    };
    expect(actionDetailSchema.parse({ ...action, ...odd })).toMatchObject({ ...action, input_schema: null });
    for (const member of Object.keys(odd)) {
      expect(actionDetailSchema.safeParse({ ...action, [member]: null }).success, member).toBe(true);
    }
  });

  test("keep the summary in an envelope beside nulls in its next action", () => {
    const canonical = {
      status: "blocked",
      error_code: "reauth_required",
      recommended_next_action: { tool: "svc.connect_app", input: { integration_id: "mail", force_reconnect: null } },
    };
    expect(executionEnvelopeSchema.parse({ ok: false, canonical }).canonical).toEqual({
      ...canonical,
      recommended_next_action: { tool: "svc.connect_app", input: { integration_id: "mail" } },
    });
  });

  test("keep lists whose numbers are null", () => {
    const numbers = { count: null, total: null, page: null, page_size: null };
    expect(toolListSchema.parse({ tools: [], truncated: null, ...numbers }).tools).toEqual([]);
    expect(toolSearchSchema.parse({ tools: [], query: null, ...numbers }).tools).toEqual([]);
    expect(integrationPageSchema.parse({ items: [], ...numbers }).items).toEqual([]);
  });

  test("keep an integration whose optional parts are null", () => {
    const item = { integration_id: "mail", name: null, connected: null, connection_state: null, capabilities: null };
    expect(integrationPageSchema.parse({ items: [item] }).items).toEqual([
      { integration_id: "mail", connection_state: null },
    ]);
  });

  test("keep what an error object adds, and drop an upload instruction that is not one", () => {
    verifies("envelope.error-extra-kept", "envelope.nullables-accepted");
    const error = { code: "missing_file_bytes", message: "m", missingFields: ["file"], upload: { url: 5 } };
    expect(executionEnvelopeSchema.parse({ ok: false, error }).error).toEqual({ ...error, upload: undefined });
    expect(executionEnvelopeSchema.parse({ ok: true, error: null, canonical: null, meta: null }).error).toBeNull();
  });

  test("turn the integer id of a flow into text", () => {
    expect(flowSchema.parse({ id: 7, status: "running" }).id).toBe("7");
    const reply = { flowId: 7, flow: { flow: { id: 7, status: "running" }, steps: [] } };
    expect(flowStartReplySchema.parse(reply).flowId).toBe("7");
  });
});
