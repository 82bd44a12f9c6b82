import { z } from "zod";
import { ServiceError } from "../../service/service-error.ts";
import { type Writing, writingSchema } from "./write-value.ts";

const schemeSchema = z.object({
  /** Name of the setting that holds the key, token or password. */
  setting: z.string(),
  /** How the value travels. `basic` takes a second setting, `<setting>_user`. */
  as: z.enum(["header", "query", "cookie", "bearer", "basic"]),
  /** Name of the header, parameter or cookie; empty for `bearer` and `basic`. */
  name: z.string(),
});

const providerSchema = z.object({
  issuer: z.string().optional(),
  authUrl: z.string().optional(),
  tokenUrl: z.string().optional(),
  deviceUrl: z.string().optional(),
});

/** Addresses of a sign-in; an open part of the API's own address may stand in them as `{name}`. */
export type ProviderAddresses = z.output<typeof providerSchema>;

const waySchema = z.object({
  /** Value of the choice. */
  value: z.string(),
  /** Settings that have to be given. */
  needs: z.array(z.string()),
  /** Undefined where nobody signs in. */
  signIn: z
    .object({
      /** Holds the access token in the settings of a call, and is never stored. */
      setting: z.string(),
      flow: z.enum(["code", "client", "device"]),
      provider: providerSchema,
      /** Setting with the scopes that the owner picked, separated by spaces; undefined where none are known. */
      scopesSetting: z.string().optional(),
      /** Scopes of a connection without this setting. */
      scopes: z.array(z.string()),
    })
    .optional(),
});

/** One of the ways in which a connection may sign in. */
export type SignInWay = z.output<typeof waySchema>;

const definitionSchema = z.object({
  /** Address every operation is below; no slash at the end. An open part stands in it as `{name}`. */
  baseUrl: z.string().min(1),
  /** The open parts of the address. */
  variables: z
    .array(
      z.object({
        name: z.string(),
        /** Setting of the connection that holds the value. */
        setting: z.string(),
        /** Stands there when the setting is empty; never of a secret. */
        fallback: z.string().optional(),
      }),
    )
    .default([]),
  /** True when the owner said that this address may be one of a private network. */
  isPrivate: z.boolean(),
  /** Where the document was read from, for people. */
  origin: z.string(),
  /** By the name the document gives them. */
  schemes: z.record(z.string(), schemeSchema),
  /** Setting that says which of the ways is taken; undefined where there is one way at most. */
  choice: z.string().optional(),
  /** The likeliest first; empty where keys alone say enough. */
  ways: z.array(waySchema).default([]),
});

/** How an HTTP API is reached. */
export type OpenApiDefinition = z.output<typeof definitionSchema>;
/** The setting of a connection that holds a credential, and its place in a request. */
export type SecurityScheme = z.output<typeof schemeSchema>;

/** Apps were once stored with other words for the same. */
const olderWritingSchema = z
  .object({
    list: z.enum(["repeat", ",", " ", "|"]),
    deep: z.boolean(),
    keepsSlashes: z.boolean().optional(),
    object: z.enum(["json", "members"]).optional(),
  })
  .transform(({ list, deep, keepsSlashes, object }): Writing => {
    const styles = { repeat: "form", ",": "simple", " ": "spaceDelimited", "|": "pipeDelimited" } as const;
    const style = deep ? "deepObject" : object === "json" ? "json" : styles[list];
    return { style, explode: deep || list === "repeat", ...(keepsSlashes && { allowReserved: true }) };
  });

const parameterSchema = z
  .object({
    /** Name in the arguments. */
    argument: z.string(),
    /** Setting of the connection that the value comes from, never from the arguments. */
    setting: z.string().optional(),
    /** True when a call without this setting is refused. */
    needsSetting: z.boolean().optional(),
    /** Name on the wire. */
    name: z.string(),
    in: z.enum(["path", "query", "header", "cookie"]),
  })
  .and(z.union([writingSchema, olderWritingSchema]));

/** How a member of a form is written; by default as its value needs it. */
const memberEncodingSchema = z.object({ writing: writingSchema.optional(), contentType: z.string().optional() });
export type MemberEncoding = z.output<typeof memberEncodingSchema>;

/** Content of `StoredAction.call` for this kind. */
export const operationCallSchema = z.object({
  method: z.string(),
  path: z.string(),
  parameters: z.array(parameterSchema),
  body: z
    .object({
      type: z.enum(["json", "form", "multipart", "text", "file"]),
      /** As the document writes it. */
      mimetype: z.string(),
      /** True when a body is sent also without a member. Default false. */
      isRequired: z.boolean().optional(),
      /** The argument that is the whole body; null when every other argument is a member of it. */
      argument: z.string().nullable(),
      /** Members that come from settings of the connection. */
      settings: z.array(z.object({ member: z.string(), setting: z.string(), isNeeded: z.boolean() })).optional(),
      /** By members of a form. */
      encoding: z.record(z.string(), memberEncodingSchema).optional(),
      /** True where a member, or what is inside, is a file. Default false. */
      hasFiles: z.boolean().optional(),
      /** The older word for members whose style is `deepObject`. */
      deep: z.array(z.string()).optional(),
    })
    .transform(({ deep = [], ...body }) => {
      const older = deep.map((name) => [name, { writing: { style: "deepObject", explode: true } as const }] as const);
      return older.length === 0 ? body : { ...body, encoding: { ...Object.fromEntries(older), ...body.encoding } };
    })
    .nullable(),
  /** Alternatives, each a list of schemes that are needed together; an empty list needs none. */
  security: z.array(z.array(z.string())),
});
export type OperationCall = z.output<typeof operationCallSchema>;
/** A parameter of an operation: the argument or setting of its value, and its place and style in the request. */
export type OperationParameter = z.output<typeof parameterSchema>;

/** @throws ServiceError 422 `integration_misconfigured`. */
export function readOpenApiDefinition(stored: unknown): OpenApiDefinition {
  const parsed = definitionSchema.safeParse(stored);
  if (parsed.success) return parsed.data;
  throw new ServiceError(422, "integration_misconfigured", "The stored address of this API cannot be read.", {
    hint: 'Add it again with "svc add openapi".',
    cause: parsed.error,
  });
}
