import { z } from "zod";
import { SvcError } from "../errors.ts";
import {
  type BootstrapPollReply,
  type BootstrapStartReply,
  bootstrapPollReplySchema,
  bootstrapStartReplySchema,
  type PairExchangeReply,
  type PairStartReply,
  type PairStartRequest,
  pairExchangeReplySchema,
  pairStartReplySchema,
} from "../wire/registration.ts";
import { readResource } from "./reply.ts";
import { type CallOptions, encodeSegment, type Transport } from "./transport.ts";

const SESSION_PATH = "/api/plugin/pair/sessions";

/** Answer of the optional status endpoint of a pairing session; the document does not show one. */
const pairSessionSchema = z.looseObject({ status: z.string() });

/** `POST /api/plugin/pair/start`. */
export async function startPairing(
  transport: Transport,
  body: PairStartRequest = {},
  options?: CallOptions,
): Promise<PairStartReply> {
  const reply = await transport.call({
    method: "POST",
    path: "/api/plugin/pair/start",
    body,
    credential: "none",
    options,
  });
  return readResource(reply, pairStartReplySchema);
}

/** `POST /api/plugin/pair/sessions/{token}/exchange`. The answer holds the live key, transmitted only this once. */
export async function exchangePairing(
  transport: Transport,
  session: { readonly sessionToken: string; readonly verifier: string },
  options?: CallOptions,
): Promise<PairExchangeReply> {
  const reply = await transport.call({
    method: "POST",
    path: `${SESSION_PATH}/${encodeSegment(session.sessionToken, "sessionToken")}/exchange`,
    label: `POST ${SESSION_PATH}/{token}/exchange`,
    body: { verifier: session.verifier },
    secrets: [session.sessionToken, session.verifier],
    credential: "none",
    options,
  });
  return readResource(reply, pairExchangeReplySchema);
}

/** Status of a pairing session where the service tells it; undefined where it has no such endpoint. */
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

/** Tells a service that keeps the key until then that it is stored here; a service without this step is left alone. */
export async function finalizePairing(
  transport: Transport,
  session: { readonly sessionToken: string; readonly verifier: string },
  options?: CallOptions,
): Promise<void> {
  const reply = await transport.call({
    method: "POST",
    path: `${SESSION_PATH}/${encodeSegment(session.sessionToken, "sessionToken")}/finalize`,
    label: `POST ${SESSION_PATH}/{token}/finalize`,
    body: { verifier: session.verifier },
    secrets: [session.sessionToken, session.verifier],
    credential: "none",
    options,
  });
  if (reply.status === 404 || reply.status === 405 || reply.status < 300) return;
  readResource(reply, z.unknown());
}

/** `POST /api/installer/bootstrap-sessions`. */
export async function startBootstrap(
  transport: Transport,
  body: Readonly<Record<string, unknown>> = {},
  options?: CallOptions,
): Promise<BootstrapStartReply> {
  const reply = await transport.call({
    method: "POST",
    path: "/api/installer/bootstrap-sessions",
    body,
    credential: "none",
    options,
  });
  return readResource(reply, bootstrapStartReplySchema);
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
  const base = new URL(transport.baseUrl);
  const prefix = base.pathname.replace(/\/$/, "");
  if (url === null || url.origin !== base.origin || !url.pathname.startsWith(`${prefix}/`)) {
    throw new SvcError(
      "pairing_failed",
      "The poll address of this session is not below the base URL; it was not called.",
      {
        field: "poll_url",
        hint: "Check the base URL; a service must be polled at its own address.",
        sent: false,
      },
    );
  }
  const reply = await transport.call({
    method: "GET",
    path: url.pathname.slice(prefix.length) + url.search,
    label: "GET {poll_url}",
    secrets: [...url.pathname.split("/").slice(-1), ...url.searchParams.values()],
    credential: "none",
    options,
  });
  return readResource(reply, bootstrapPollReplySchema);
}
