import type { Hono } from "hono";
import { type ZodType, z } from "zod";
import { API_KEY_HEADER, INTERFACE_VERSION } from "../../../shared/wire/constants.ts";
import { bareErrorSchema } from "../../../shared/wire/execution.ts";
import { OAUTH_SCOPES } from "../../../shared/wire/mcp.ts";
import type { RouteEnv } from "../request.ts";
import { approvalOperations } from "../routes/approvals.ts";
import { catalogOperations, toolOperations } from "../routes/catalog.ts";
import { executeOperations } from "../routes/execute.ts";
import { executionOperations } from "../routes/executions.ts";
import { flowOperations } from "../routes/flows.ts";
import { healthOperations } from "../routes/health.ts";
import { hookOperations } from "../routes/hooks.ts";
import { ingestOperations } from "../routes/ingest.ts";
import { mcpOperations } from "../routes/mcp.ts";
import { metricsOperations } from "../routes/metrics.ts";
import { oauthOperations } from "../routes/oauth.ts";
import { previewOperations } from "../routes/preview.ts";
import { bootstrapOperations, pairingOperations } from "../routes/registration.ts";
import type { ServiceParts } from "../service-parts.ts";
import type { Operation, OperationAccess, OperationAnswer, OperationBody, OperationParameter } from "./operation.ts";
import { shapes } from "./shapes.ts";

/**
 * Builds the OpenAPI 3.1 document. Every schema comes from zod in one place: a zod schema that is one of `shapes`
 * becomes a reference to its component, `.catch()` and `.transform()` are described by what may be sent.
 */
export function buildDocument(
  operations: readonly Operation[],
  { baseUrl, shapes }: { baseUrl: string; shapes: Readonly<Record<string, ZodType>> },
): object {
  const registry = z.registry<{ id: string }>();
  for (const [id, shape] of Object.entries({ Error: bareErrorSchema, ...shapes })) registry.add(shape, { id });
  const describe = (schema: ZodType) => describeSchema(schema, registry);
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations) {
    const methods = paths[operation.path] ?? {};
    paths[operation.path] = { ...methods, [operation.method]: describeOperation(operation, describe) };
  }
  return {
    openapi: "3.1.0",
    jsonSchemaDialect: "https://json-schema.org/draft/2020-12/schema",
    info: {
      title: "Agent Tool API",
      version: INTERFACE_VERSION,
      description: "Discovery, execution, flows and registration of a self-hosted svc.",
    },
    servers: [{ url: baseUrl }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: { schemas: describeComponents(registry), securitySchemes: describeSecurity(baseUrl) },
  };
}

type Describe = (schema: ZodType) => object;

function describeOperation(operation: Operation, describe: Describe): object {
  const { method, path, summary, tag, access, parameters = [], request } = operation;
  return {
    operationId: `${method}${path.replaceAll(/[^A-Za-z0-9]+(.?)/g, (_, next: string) => next.toUpperCase())}`,
    summary,
    tags: [tag],
    security: SECURITY[access],
    ...(parameters.length > 0 && { parameters: parameters.map((one) => describeParameter(one, describe)) }),
    ...(request && {
      requestBody: {
        required: request.required,
        content: Object.fromEntries(
          Object.entries(request.content).map(([type, body]) => [type, describeMedia(body, describe)]),
        ),
      },
    }),
    responses: describeAnswers(operation, describe),
  };
}

function describeParameter({ name, in: place, description, schema, required }: OperationParameter, describe: Describe) {
  const isRequired = place === "path" || (required ?? false);
  return { name, in: place, description, required: isRequired, schema: describe(schema ?? z.string()) };
}

const BARE = (description: string): OperationAnswer => ({ description, body: bareErrorSchema });

function listCommonAnswers({ method, access }: Operation): Record<number, OperationAnswer> {
  return {
    400: BARE("The request is malformed, or addressed to another host"),
    ...(access !== "anybody" && { 401: BARE("The key or token is missing, invalid or revoked") }),
    ...(method === "post" && { 403: BARE("Sent by the page of another web site") }),
    500: BARE("Something unexpected went wrong"),
  };
}

function describeAnswers(operation: Operation, describe: Describe): Record<string, object> {
  const common = listCommonAnswers(operation);
  const statuses = [...new Set([...Object.keys(common), ...Object.keys(operation.answers)])].map(Number).sort();
  return Object.fromEntries(
    statuses.map((status) => [status, describeAnswer([operation.answers[status], common[status]], describe)]),
  );
}

function describeAnswer([own, common]: (OperationAnswer | undefined)[], describe: Describe): object {
  const answer = own ?? common ?? { description: "", body: "nothing" as const };
  const headers = Object.entries(answer.headers ?? {});
  const shown = {
    description: [...new Set([own, common].flatMap((one) => one?.description ?? []))].join("; or: "),
    ...(headers.length > 0 && {
      headers: Object.fromEntries(
        headers.map(([name, description]) => [name, { description, schema: { type: "string" } }]),
      ),
    }),
  };
  if (answer.body === "nothing") return shown;
  const media = describeMedia(mergeBodies(answer.body, common?.body), describe);
  return { ...shown, content: { [answer.contentType ?? "application/json"]: media } };
}

function mergeBodies(own: OperationAnswer["body"], common: OperationAnswer["body"] | undefined): OperationBody {
  if (typeof own === "string") return own;
  const shapes = [own, common].flat().filter((shape) => shape !== undefined && typeof shape !== "string");
  const [first = z.unknown(), ...rest] = new Set(shapes);
  return rest.length === 0 ? first : z.union([first, ...rest]);
}

function describeMedia(body: OperationBody, describe: Describe): object {
  if (body === "nothing") return {};
  return { schema: body === "binary" ? { type: "string", contentEncoding: "binary" } : describe(body) };
}

/** Ways to be let in, any one of which is enough ("Authentication"). */
const SECURITY: Readonly<Record<OperationAccess, object[]>> = {
  key: [{ apiKey: [] }, { bearerKey: [] }],
  mcp: [{ apiKey: [] }, { bearerKey: [] }, { oauth: [OAUTH_SCOPES[0]] }],
  ingest: [{ uploadToken: [] }],
  anybody: [],
};

function describeSecurity(baseUrl: string): object {
  return {
    apiKey: { type: "apiKey", in: "header", name: API_KEY_HEADER, description: "Wins when both forms are sent." },
    bearerKey: { type: "http", scheme: "bearer", description: "The API key as a bearer token." },
    uploadToken: { type: "http", scheme: "bearer", description: "Single-use token of a missing_file_bytes hint." },
    oauth: {
      type: "oauth2",
      flows: {
        authorizationCode: {
          authorizationUrl: `${baseUrl}/oauth/authorize`,
          tokenUrl: `${baseUrl}/oauth/token`,
          refreshUrl: `${baseUrl}/oauth/token`,
          scopes: Object.fromEntries(OAUTH_SCOPES.map((scope) => [scope, SCOPE_MEANING[scope]])),
        },
      },
    },
  };
}

const SCOPE_MEANING: Readonly<Record<(typeof OAUTH_SCOPES)[number], string>> = {
  openid: "Identify the authorizing user; required.",
  email: "Read the user's email address.",
  profile: "Read basic profile information.",
};

const COMPONENTS = "#/components/schemas/";

type ShapeRegistry = ReturnType<typeof z.registry<{ id: string }>>;

function describeComponents(registry: ShapeRegistry): Record<string, object> {
  const { schemas } = z.toJSONSchema(registry, { ...JSON_SCHEMA, uri: (id) => `${COMPONENTS}${id}` });
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, dropHead(schema)]));
}

function describeSchema(schema: ZodType, registry: ShapeRegistry): object {
  const id = registry.get(schema)?.id;
  if (id !== undefined) return { $ref: `${COMPONENTS}${id}` };
  const { $defs: _components, ...described } = dropHead(
    z.toJSONSchema(schema, { ...JSON_SCHEMA, metadata: registry }),
  ) as { $defs?: unknown };
  return JSON.parse(JSON.stringify(described).replaceAll('"$ref":"#/$defs/', `"$ref":"${COMPONENTS}`));
}

const JSON_SCHEMA = {
  target: "draft-2020-12",
  io: "input",
  unrepresentable: "any",
  override({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: { default?: unknown } }) {
    // The value a reader falls back to is nothing that a sender needs to know.
    if (zodSchema._zod.def.type === "catch") delete jsonSchema.default;
  },
} as const;

function dropHead({ $schema: _schema, $id: _id, ...rest }: { $schema?: unknown; $id?: unknown }): object {
  return rest;
}

/** Every operation of the service except pages and the endpoints of the OAuth library. */
export const allOperations: readonly Operation[] = [
  ...toolOperations,
  ...executeOperations,
  ...previewOperations,
  ...executionOperations,
  ...approvalOperations,
  ...catalogOperations,
  ...flowOperations,
  ...hookOperations,
  ...mcpOperations,
  ...oauthOperations,
  ...pairingOperations,
  ...bootstrapOperations,
  ...ingestOperations,
  ...healthOperations,
  ...metricsOperations,
  {
    method: "get",
    path: "/openapi.json",
    summary: "This document.",
    tag: "Service",
    access: "anybody",
    answers: { 200: { description: "OpenAPI 3.1", body: z.looseObject({ openapi: z.string() }) } },
  },
];

/** `GET /openapi.json`: the description of every endpoint, without a key. */
export function addOpenApiRoute(app: Hono<RouteEnv>, { baseUrl }: ServiceParts): void {
  let document: string | undefined;
  app.get("/openapi.json", (c) => {
    document ??= JSON.stringify(buildDocument(allOperations, { baseUrl, shapes }));
    return c.body(document, 200, { "content-type": "application/json", "cache-control": "no-cache" });
  });
}
