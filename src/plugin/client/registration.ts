import { z } from "zod";
import { isRecord } from "../../shared/base/json.ts";
import { SvcError } from "../../shared/errors.ts";
import { API_KEY_HEADER, API_KEY_PREFIX } from "../../shared/wire/constants.ts";
import {
  type BootstrapPollReply,
  bootstrapPollReplySchema,
  type PairExchangeReply,
  pairExchangeReplySchema,
} from "../../shared/wire/registration.ts";
import { pathBelow } from "./base-url.ts";
import { type ApiReply, readResource } from "./reply.ts";
import { type CallOptions, encodeSegment, type Transport } from "./transport.ts";

/** A pairing session as the machine knows it that started it; both members are secret. */
interface PairSession {
  readonly sessionToken: string;
  readonly verifier: string;
}

const SESSION_PATH = "/api/plugin/pair/sessions";

/** Answer of the optional status endpoint of a pairing session; the document does not show one. */
const pairSessionSchema = z.looseObject({ status: z.string() });

/**
 * Exchanges the verifier for the key ("Registration: pairing flow"), which is transmitted only once.
 *
 * @throws SvcError as {@link readResource}, also while no human has decided
 */
export async function exchangePairing(
  transport: Transport,
  session: PairSession,
  options?: CallOptions,
): Promise<PairExchangeReply> {
  return readResource(await postSession(transport, session, "exchange", options), pairExchangeReplySchema);
}

/**
 * Status of a pairing session; undefined on 404 and 405, since the document has no endpoint for it.
 *
 * @throws SvcError as {@link readResource}, for any other refusal
 */
export async function getPairingStatus(
  transport: Transport,
  sessionToken: string,
  options?: CallOptions,
): Promise<string | undefined> {
  const reply = await transport.call({
    method: "GET",
    path: `${SESSION_PATH}/${encodeSegment(sessionToken, "sessionToken")}`,
    label: `GET ${SESSION_PATH}/{token}`,
    secrets: [sessionToken],
    credential: "none",
    options,
  });
  if (reply.status === 404 || reply.status === 405) return undefined;
  const session = z.looseObject({ session: pairSessionSchema }).safeParse(reply.json);
  return session.success ? session.data.session.status : readResource(reply, pairSessionSchema).status;
}

/**
 * Confirms that the key is stored; 404 and 405 are ignored, since the document has no endpoint for it.
 *
 * @throws SvcError for any other refusal
 */
export async function finalizePairing(
  transport: Transport,
  session: PairSession,
  options?: CallOptions,
): Promise<void> {
  const reply = await postSession(transport, session, "finalize", options);
  if (reply.status === 404 || reply.status === 405 || reply.status < 300) return;
  readResource(reply, z.unknown());
}

async function postSession(
  transport: Transport,
  { sessionToken, verifier }: PairSession,
  step: "exchange" | "finalize",
  options: CallOptions | undefined,
): Promise<ApiReply> {
  return transport.call({
    method: "POST",
    path: `${SESSION_PATH}/${encodeSegment(sessionToken, "sessionToken")}/${step}`,
    label: `POST ${SESSION_PATH}/{token}/${step}`,
    body: { verifier },
    secrets: [sessionToken, verifier],
    credential: "none",
    options,
  });
}

/**
 * Polls a bootstrap session at the address the service gave.
 *
 * @throws SvcError `pairing_failed` when that address is not below the base URL: nothing is sent then
 */
export async function pollBootstrap(
  transport: Transport,
  pollUrl: string,
  options?: CallOptions,
): Promise<BootstrapPollReply> {
  const url = URL.parse(pollUrl, `${transport.baseUrl}/`);
  const path = pathBelow(transport.baseUrl, url);
  if (url === null || path === undefined) {
    const message = "The poll address of this session is not below the base URL; it was not called.";
    throw new SvcError("pairing_failed", message, {
      field: "poll_url",
      hint: "Check the base URL; a service must be polled at its own address.",
      sent: false,
    });
  }
  const reply = await transport.call({
    method: "GET",
    path,
    label: "GET {poll_url}",
    secrets: [...url.pathname.split("/").slice(-1), ...url.searchParams.values()],
    credential: "none",
    options,
  });
  const given =
    reply.status < 300 && isRecord(reply.json) ? { ...reply, json: withInstall(transport, reply.json) } : reply;
  return readResource(given, bootstrapPollReplySchema);
}

/** The shape of `install` is ours. Of another one the key is taken, which is handed out once. */
function withInstall({ baseUrl }: Transport, json: Record<string, unknown>): Record<string, unknown> {
  if (bootstrapPollReplySchema.shape.install.safeParse(json.install).data != null) return json;
  const key = findKey(json);
  if (key === undefined) return json;
  const install = { server_name: "svc", url: `${baseUrl}/api/mcp`, headers: { [API_KEY_HEADER]: key } };
  return { ...json, status: json.status ?? "approved", install };
}

function findKey(value: unknown): string | undefined {
  if (typeof value === "string") return new RegExp(`^(?:Bearer )?(${API_KEY_PREFIX}\\S+)$`).exec(value)?.[1];
  if (typeof value !== "object" || value === null) return undefined;
  return Object.values(value)
    .map(findKey)
    .find((key) => key !== undefined);
}
