import { RPC_CODES } from "./protocol.ts";

/** A failure of the protocol itself, answered in the `error` member. What a tool could not do is a result instead. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly data: Readonly<Record<string, unknown>> | undefined;

  constructor(code: number, message: string, data?: Readonly<Record<string, unknown>>) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** -32602: something in `params` is missing or wrong. */
export function invalidParams(message: string, data?: Readonly<Record<string, unknown>>): RpcError {
  return new RpcError(RPC_CODES.invalidParams, message, data);
}
