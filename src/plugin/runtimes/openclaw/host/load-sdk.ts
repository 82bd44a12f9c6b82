import type { HostScope } from "./host-api.ts";

/** Functions of the host's SDK by name; check each before use. */
export type SdkModule = Readonly<Record<string, unknown>>;

/** {@link loadSdk}, replaced in tests. */
export type LoadSdk = (subpath: string) => Promise<SdkModule | undefined>;

/**
 * Loads `openclaw/plugin-sdk/<subpath>` of the host this runs in; undefined where there is none or where it cannot be
 * loaded. Costs up to a second outside a gateway, next to nothing inside.
 */
export async function loadSdk(subpath: string): Promise<SdkModule | undefined> {
  try {
    const specifier: string = `openclaw/plugin-sdk/${subpath}`;
    const loaded: unknown = await import(specifier);
    return typeof loaded === "object" && loaded !== null ? (loaded as SdkModule) : undefined;
  } catch {
    return undefined;
  }
}

const CALL_MS = 30_000;

/** The answer of a method of the running gateway, or why it could not be asked. */
type GatewayAnswer =
  | { readonly ok: true; readonly payload: unknown }
  | { readonly ok: false; readonly reason: "unsupported" | "failed"; readonly message: string };

/** Calls a method of the running gateway from the command line, with the rights it needs and no others. */
export async function askGateway(
  method: string,
  params: Readonly<Record<string, unknown>>,
  scope: HostScope,
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
