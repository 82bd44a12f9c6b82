/** One tool that is always there, as data: nothing behind it is loaded to show it. */
export interface StaticDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly schema: Readonly<Record<string, unknown>>;
}

/**
 * The static tools and the flow tools. Written by `node test/runtimes/openclaw/write-static-definitions.ts`; a test
 * holds them equal to the rooms that own them.
 */
export const STATIC_DEFINITIONS: readonly StaticDefinition[] = [
  {
    name: "svc_search_tools",
    description:
      "Finds tools of the user's connected apps by what they do. Returns full names and what each may change. Describe a tool before its first call.",
    schema: {
      type: "object",
      properties: {
        query: {
          type: "string",
          minLength: 1,
          description: "What the tool should do, in a few words.",
        },
        integration: {
          description: "Only tools of this app, by its slug.",
          type: "string",
        },
        limit: {
          description: "How many tools to return. Default 10.",
          type: "integer",
          minimum: 1,
          maximum: 20,
        },
      },
      required: ["query"],
    },
  },
  {
    name: "svc_describe_tool",
    description: "Shows one tool completely: what it does, its arguments as JSON Schema, and the accounts it can use.",
    schema: {
      type: "object",
      properties: {
        name: {
          type: "string",
          minLength: 1,
          description: "Full name of the tool.",
        },
      },
      required: ["name"],
    },
  },
  {
    name: "svc_call_tool",
    description:
      "Runs a tool by its full name. Anything that changes something is shown to the user for approval first; only the user can approve.",
    schema: {
      type: "object",
      properties: {
        name: {
          type: "string",
          minLength: 1,
          description: "Full name of the tool, as search or describe gave it.",
        },
        arguments: {
          description: "The tool's own arguments.",
          anyOf: [
            {
              type: "object",
              propertyNames: {
                type: "string",
              },
              additionalProperties: {},
            },
            {
              type: "string",
            },
          ],
        },
        connectionId: {
          description: "Account to use, when several are connected.",
          anyOf: [
            {
              type: "string",
            },
            {
              type: "integer",
              minimum: -9007199254740991,
              maximum: 9007199254740991,
            },
          ],
        },
      },
      required: ["name"],
    },
  },
  {
    name: "svc_read_result",
    description: "Reads on in a result that was too long to be shown whole.",
    schema: {
      type: "object",
      properties: {
        ref: {
          type: "string",
          minLength: 1,
          description: "The reference an earlier result gave.",
        },
        offset: {
          description: "First character to read. Default 0.",
          type: "integer",
          minimum: 0,
          maximum: 9007199254740991,
        },
        limit: {
          description: "How many characters to read. Default and maximum 24000.",
          type: "integer",
          minimum: 1,
          maximum: 9007199254740991,
        },
      },
      required: ["ref"],
    },
  },
  {
    name: "svc_status",
    description:
      "Tells which service is used, whether it accepts this device now, and how many tools and apps are known. Runs nothing.",
    schema: {
      type: "object",
      properties: {},
    },
  },
  {
    name: "svc_list_flow_templates",
    description: "Lists the flows that can be started: multi-step jobs the service runs by itself.",
    schema: {
      type: "object",
      properties: {},
    },
  },
  {
    name: "svc_start_flow",
    description:
      "Starts a flow from a template, after the user agreed, and waits a while for it. Steps that change something wait for the user again.",
    schema: {
      type: "object",
      properties: {
        template: {
          type: "string",
          minLength: 1,
          description: "Key of the template, from svc_list_flow_templates.",
        },
        input: {
          description: "Inputs of the template.",
          type: "object",
          propertyNames: {
            type: "string",
          },
          additionalProperties: {},
        },
        wait_seconds: {
          description: "How long to wait until the flow ends or needs the user. Default 20, at most 300.",
          type: "number",
          minimum: 0,
          maximum: 300,
        },
      },
      required: ["template"],
    },
  },
  {
    name: "svc_get_flow",
    description: "Shows a flow and its steps, waiting a while for it to go on. Without an id: the latest flows.",
    schema: {
      type: "object",
      properties: {
        flow_id: {
          description: "Id of the flow. Left out: the latest flows are listed.",
          type: "string",
          minLength: 1,
        },
        wait_seconds: {
          description: "How long to wait until the flow ends or needs the user. Default 20, at most 300.",
          type: "number",
          minimum: 0,
          maximum: 300,
        },
      },
    },
  },
  {
    name: "svc_approve_flow",
    description:
      "Asks the user to let a waiting flow go on; they see what it is about to do. Only the user can approve.",
    schema: {
      type: "object",
      properties: {
        flow_id: {
          type: "string",
          minLength: 1,
          description: "Id of the flow, as starting it gave.",
        },
        step: {
          description: "Step that waits. Default: the one the flow is at.",
          type: "string",
          minLength: 1,
        },
        wait_seconds: {
          description: "How long to wait until the flow ends or needs the user. Default 20, at most 300.",
          type: "number",
          minimum: 0,
          maximum: 300,
        },
      },
      required: ["flow_id"],
    },
  },
  {
    name: "svc_resume_flow",
    description: "Tries a failed flow again from the step that failed, after the user agreed.",
    schema: {
      type: "object",
      properties: {
        flow_id: {
          type: "string",
          minLength: 1,
          description: "Id of the flow, as starting it gave.",
        },
        wait_seconds: {
          description: "How long to wait until the flow ends or needs the user. Default 20, at most 300.",
          type: "number",
          minimum: 0,
          maximum: 300,
        },
      },
      required: ["flow_id"],
    },
  },
  {
    name: "svc_cancel_flow",
    description: "Ends a flow for good. What it did stays done.",
    schema: {
      type: "object",
      properties: {
        flow_id: {
          type: "string",
          minLength: 1,
          description: "Id of the flow, as starting it gave.",
        },
      },
      required: ["flow_id"],
    },
  },
];
