import type { HostState } from "./isolated-state.ts";
import { nameSession } from "./operator.ts";
import type { Gateway } from "./start-gateway.ts";

/** What `POST /tools/invoke` answered. */
export interface Invocation {
  readonly status: number;
  /** Text of the result's first part, empty when there is none. */
  readonly text: string;
  /** `details` of the result. */
  readonly details: unknown;
  readonly body: unknown;
}

interface InvokeReply {
  result?: { content?: { text?: string }[]; details?: unknown };
}

/** Calls a tool through the gateway's HTTP endpoint, as an operator's script does. */
export async function invokeTool(
  gateway: Pick<Gateway, "url">,
  { token }: Pick<HostState, "token">,
  tool: string,
  args: object = {},
): Promise<Invocation> {
  const response = await fetch(`${gateway.url}/tools/invoke`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ tool, args, sessionKey: nameSession("main") }),
  });
  const body = (await response.json()) as InvokeReply;
  const { content, details } = body.result ?? {};
  return { status: response.status, text: content?.[0]?.text ?? "", details, body };
}
