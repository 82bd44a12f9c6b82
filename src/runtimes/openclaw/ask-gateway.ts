import { loadSdk } from "./load-sdk.ts";

const CALL_MS = 30_000;

/** What a method of the running gateway answered, or why it could not be asked. */
export type GatewayAnswer =
  | { readonly ok: true; readonly payload: unknown }
  | { readonly ok: false; readonly reason: "unsupported" | "failed"; readonly message: string };

/** Calls a method of the running gateway from the command line, with the rights it needs and no others. */
export async function askGateway(
  method: string,
  params: Readonly<Record<string, unknown>>,
  scope: "operator.approvals" | "operator.admin",
): Promise<GatewayAnswer> {
  const { callGatewayFromCli: call } = (await loadSdk("gateway-runtime")) ?? {};
  if (typeof call !== "function") return { ok: false, reason: "unsupported", message: "it offers no way" };
  try {
    const extra = { scopes: [scope], progress: false };
    return { ok: true, payload: await call(method, { json: true, timeout: String(CALL_MS) }, params, extra) };
  } catch (error) {
    const message = (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";
    return { ok: false, reason: "failed", message };
  }
}
