import { type ZodType, z } from "zod";
import { bareErrorSchema } from "../../../wire/bare-error.ts";
import { describeComponents, describeSchema } from "./describe-schema.ts";
import { describeSecurity, SECURITY } from "./describe-security.ts";
import type { Operation, OperationAnswer, OperationBody, OperationParameter } from "./operation.ts";

/** Version of the interface, as the API document says. */
const INTERFACE_VERSION = "1.0.0";

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
