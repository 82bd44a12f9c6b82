import type { ActionContext } from "../../integrations/integration.ts";
import { createAppAgent } from "../app-agent.ts";
import { createAddedIntegration } from "../create-added-integration.ts";
import type { SourceKind } from "../source.ts";
import type { StoredAction } from "../source-content.ts";
import { buildRequest } from "./build-request.ts";
import { operationCallSchema, readOpenApiDefinition } from "./openapi-definition.ts";
import { sendRequest } from "./send-request.ts";

/** An API that sends nothing for so long is given up. */
const ANSWER_MS = 60_000;

/** HTTP APIs that an OpenAPI document describes. */
export const openApiKind: SourceKind = {
  async open(source) {
    const definition = readOpenApiDefinition(source.definition);
    const { dispatcher, close } = createAppAgent({ isPrivate: definition.isPrivate, silenceMs: ANSWER_MS });
    const { name: app } = source;

    async function run(action: StoredAction, args: Readonly<Record<string, unknown>>, context: ActionContext) {
      const request = buildRequest(definition, operationCallSchema.parse(action.call), args, context);
      return sendRequest(request, { dispatcher, app, action, context });
    }

    return {
      integration: createAddedIntegration(source, { run }),
      close,
    };
  },
};
