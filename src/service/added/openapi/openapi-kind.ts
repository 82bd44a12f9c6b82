import { createAppAgent } from "../../fetch/guarded-connector.ts";
import type { ActionContext } from "../../integrations/integration.ts";
import { judgeArgument } from "../../secrets/credential-name.ts";
import { createAddedIntegration } from "../create-added-integration.ts";
import type { IntegrationSource, SourceKind, SourcePorts } from "../source.ts";
import type { StoredAction } from "../source-content.ts";
import { buildRequest } from "./build-request.ts";
import { operationCallSchema, readOpenApiDefinition } from "./openapi-definition.ts";
import { sendRequest } from "./send-request.ts";
import { fillAddress } from "./server-address.ts";

/** An API that sends nothing for so long is given up. */
const ANSWER_MS = 60_000;

/** Apps were once added with actions that take a key from the model: those are not offered any more. */
function leaveOutUnsafe(source: IntegrationSource, { log }: Pick<SourcePorts, "log">): IntegrationSource {
  const { slug, content } = source;
  const actions = content.actions.filter((action) => !takesCredential(action));
  const left = content.actions.length - actions.length;
  if (left === 0) return source;
  const message = `${left} actions of "${slug}" take a secret as an argument and are not offered. Add it again with "svc add openapi ${slug} … --replace".`;
  log({ level: "warn", message });
  return { ...source, content: { ...content, actions } };
}

function takesCredential({ inputSchema, call }: StoredAction): boolean {
  const { parameters } = operationCallSchema.parse(call);
  const { properties } = inputSchema;
  return Object.entries(typeof properties === "object" && properties !== null ? properties : {}).some(
    ([argument, schema]) => {
      const parameter = parameters.find((one) => one.argument === argument);
      return judgeArgument({ name: parameter?.name ?? argument, place: parameter?.in ?? "body", schema }) === "yes";
    },
  );
}

/** HTTP APIs that an OpenAPI document describes. */
export const openApiKind: SourceKind = {
  async open(stored, ports) {
    const definition = readOpenApiDefinition(stored.definition);
    const source = leaveOutUnsafe(stored, ports);
    const { dispatcher, close } = createAppAgent({ isPrivate: definition.isPrivate, silenceMs: ANSWER_MS });
    const { name: app } = source;

    async function run(action: StoredAction, args: Readonly<Record<string, unknown>>, context: ActionContext) {
      const request = buildRequest(definition, operationCallSchema.parse(action.call), args, context);
      return sendRequest(request, { dispatcher, app, action, context });
    }

    return {
      integration: createAddedIntegration(source, run, (settings) => void fillAddress(definition, settings)),
      close,
    };
  },
};
