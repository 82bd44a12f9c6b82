import { expect, test } from "vitest";
import { SIDE_EFFECT_LEVELS } from "../../../src/shared/wire/catalog.ts";
import * as limits from "../../../src/shared/wire/constants.ts";
import { API_KEY_HEADER, API_KEY_PREFIX } from "../../../src/shared/wire/constants.ts";
import {
  CANONICAL_ERROR_CODES,
  CANONICAL_EXECUTE_STATUSES,
  executionStatusSchema,
  TOOL_ERROR_CODES,
  TOOL_ERROR_TYPES,
  TOOL_EXECUTE_STATUSES,
} from "../../../src/shared/wire/execution.ts";
import { INGEST_PATH } from "../../../src/shared/wire/file.ts";
import {
  FLOW_STATUSES,
  FLOW_STEP_STATUSES,
  FLOW_STEP_TYPES,
  FLOW_TRIGGER_TYPES,
} from "../../../src/shared/wire/flow.ts";
import { MCP_METHODS, MCP_TOOL_NAMES, OAUTH_SCOPES, SERVER_CARD_CONTENT_TYPE } from "../../../src/shared/wire/mcp.ts";
import { PAIR_STATUSES } from "../../../src/shared/wire/registration.ts";

const words = (text: string): string[] => text.trim().split(/\s+/);

test("limits are those of the document's table", () => {
  expect({ ...limits }).toMatchObject({
    TOOL_PAGE: { default: 50, max: 200 },
    FLOW_PAGE: { default: 30, max: 100 },
    FLOW_MAX_RESULTS: { min: 1, max: 20 },
    MAX_FILE_BYTES: 26_214_400,
    MAX_REQUEST_FILE_BYTES: 104_857_600,
    BOOTSTRAP_LIFETIME_MS: 900_000,
  });
});

test("statuses are those of the document's tables", () => {
  expect(TOOL_EXECUTE_STATUSES).toEqual([200, 400, 401, 402, 403, 404, 409, 412, 413, 422, 429, 500, 503]);
  expect(CANONICAL_EXECUTE_STATUSES).toEqual([200, 400, 401, 409, 500]);
  expect(executionStatusSchema.options).toEqual(words("succeeded blocked failed"));
});

test("codes and types are those of the document's lists", () => {
  expect(CANONICAL_ERROR_CODES).toEqual(
    words(`unauthorized forbidden integration_not_found action_not_found integration_not_connected reauth_required
      validation_error policy_blocked rate_limited timeout unsupported_operation execution_failed`),
  );
  expect(TOOL_ERROR_CODES).toEqual(
    words(`needs_connection confirmation_required tool_not_found invalid_arguments missing_file_bytes
      media_url_not_a_file`),
  );
  expect(TOOL_ERROR_TYPES).toEqual(words("validation auth missing_scopes rate_limit network"));
  expect(SIDE_EFFECT_LEVELS).toEqual(words("read write delete admin"));
});

test("flow vocabulary is that of the document", () => {
  expect(FLOW_STATUSES).toEqual(words("pending running waiting completed failed cancelled"));
  expect(FLOW_TRIGGER_TYPES).toEqual(words("agent manual webhook schedule"));
  expect(FLOW_STEP_TYPES).toEqual(words("tool_call transform wait approval"));
  expect(FLOW_STEP_STATUSES).toEqual(words("pending running waiting completed failed skipped"));
});

test("MCP and OAuth vocabulary is that of the document", () => {
  const named = words(`svc.search svc.list_actions svc.get_action svc.list_integrations svc.get_connection
    svc.connect_app svc.execute svc.get_execution`);
  expect(MCP_TOOL_NAMES).toHaveLength(10);
  expect(MCP_TOOL_NAMES).toEqual(expect.arrayContaining([...named, "svc.whoami", "svc.get_integration"]));
  expect(MCP_METHODS).toEqual(words("initialize tools/list tools/call"));
  expect(OAUTH_SCOPES).toEqual(words("openid email profile"));
  expect(SERVER_CARD_CONTENT_TYPE).toBe("application/mcp-server-card+json");
});

test("key, header, path and pairing words are those of the document and our decisions", () => {
  expect(API_KEY_PREFIX).toBe("svc_live_");
  expect(API_KEY_HEADER).toBe("x-svc-api-key");
  expect(INGEST_PATH).toBe("/api/files/ingest");
  expect(PAIR_STATUSES).toEqual(words("awaiting_approval approved exchanged expired denied"));
});
