import { describe, expect, test } from "vitest";
import type { ZodType } from "zod";
import {
  actionDetailSchema,
  actionListSchema,
  catalogSearchSchema,
  integrationPageSchema,
} from "../../../src/shared/wire/catalog.ts";
import {
  bareErrorSchema,
  canonicalExecuteRequestSchema,
  executionEnvelopeSchema,
  executionSummarySchema,
  toolExecuteRequestSchema,
} from "../../../src/shared/wire/execution.ts";
import {
  flowListSchema,
  flowStartReplySchema,
  flowTemplatesSchema,
  flowViewSchema,
} from "../../../src/shared/wire/flow.ts";
import {
  mcpListingSchema,
  rpcRequestSchema,
  rpcResponseSchema,
  serverCardSchema,
} from "../../../src/shared/wire/mcp.ts";
import {
  bootstrapStartReplySchema,
  pairExchangeReplySchema,
  pairStartReplySchema,
} from "../../../src/shared/wire/registration.ts";
import { toolDescriptionSchema, toolListSchema, toolSearchSchema } from "../../../src/shared/wire/tool.ts";
import { readGoldenObject } from "../../contract/read-golden.ts";

const SCHEMAS: readonly (readonly [golden: string, schema: ZodType])[] = [
  ["tool-list-truncated", toolListSchema],
  ["tool-search", toolSearchSchema],
  ["tool-description", toolDescriptionSchema],
  ["envelope-succeeded", executionEnvelopeSchema],
  ["envelope-minimal", executionEnvelopeSchema],
  ["envelope-confirmation-required", executionEnvelopeSchema],
  ["envelope-rate-limited", executionEnvelopeSchema],
  ["envelope-needs-connection", executionEnvelopeSchema],
  ["summary-succeeded", executionSummarySchema],
  ["summary-blocked-reauth", executionSummarySchema],
  ["summary-failed", executionSummarySchema],
  ["bare-error", bareErrorSchema],
  ["tool-execute-request", toolExecuteRequestSchema],
  ["canonical-execute-request", canonicalExecuteRequestSchema],
  ["integrations", integrationPageSchema],
  ["actions", actionListSchema],
  ["action-detail", actionDetailSchema],
  ["catalog-search", catalogSearchSchema],
  ["flow-view", flowViewSchema],
  ["flow-start", flowStartReplySchema],
  ["flow-list", flowListSchema],
  ["flow-templates", flowTemplatesSchema],
  ["mcp-listing", mcpListingSchema],
  ["rpc-request", rpcRequestSchema],
  ["rpc-result", rpcResponseSchema],
  ["rpc-error", rpcResponseSchema],
  ["server-card", serverCardSchema],
  ["pair-start", pairStartReplySchema],
  ["pair-start-minimal", pairStartReplySchema],
  ["pair-exchange", pairExchangeReplySchema],
  ["bootstrap-start", bootstrapStartReplySchema],
];

describe("each documented resource", () => {
  test.each(SCHEMAS)("%s is read without losing anything", (golden, schema) => {
    const document = readGoldenObject(`resources/${golden}`);
    expect(schema.parse(document)).toEqual(document);
  });

  test.each(SCHEMAS)("%s keeps members that the document does not list", (golden, schema) => {
    const document = { ...readGoldenObject(`resources/${golden}`), addedLater: { nested: [1, null] } };
    expect(schema.parse(document)).toEqual(document);
  });

  test.each(SCHEMAS)("%s is no array and no text", (_golden, schema) => {
    expect(schema.safeParse([]).success).toBe(false);
    expect(schema.safeParse("text").success).toBe(false);
    expect(schema.safeParse(null).success).toBe(false);
  });
});
