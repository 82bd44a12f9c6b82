import { z } from "zod";
import { displaySchema } from "./execution.ts";
import { keyScopesSchema } from "./key-scopes.ts";

/** Body of `POST /api/plugin/pair/start`; `client` is `cli` for CLI installs, omitted for the plugin. */
export const pairStartRequestSchema = z.looseObject({
  deviceLabel: z.string().optional(),
  client: z.string().optional(),
  /** Requested limits of the key. Ours: not in the document. */
  scopes: keyScopesSchema.optional(),
});
export type PairStartRequest = z.infer<typeof pairStartRequestSchema>;

/** Answer of pair start. `verifier` is secret and stays on the calling machine. */
export const pairStartReplySchema = z.looseObject({
  sessionToken: z.string().min(1),
  pairUrl: z.string().min(1),
  verifier: z.string().min(1),
  expiresAt: z.string(),
  displayCode: z.string().nullish(),
  deviceLabel: z.string().nullish(),
  status: z.string().nullish(),
  pollIntervalMs: z.int().nullish(),
});
export type PairStartReply = z.infer<typeof pairStartReplySchema>;

/** Body of `POST /api/plugin/pair/sessions/{token}/exchange`. */
export const pairExchangeRequestSchema = z.looseObject({ verifier: z.string().min(1) });
export type PairExchangeRequest = z.infer<typeof pairExchangeRequestSchema>;

/** Answer of the exchange: the live key, transmitted only this once. `session.scopes`, ours, has the granted limits. */
export const pairExchangeReplySchema = z.looseObject({
  apiKey: z.string().min(1),
  apiKeyId: z.union([z.int(), z.string()]),
  session: z.looseObject({ scopes: keyScopesSchema.nullish() }).nullish(),
});
export type PairExchangeReply = z.infer<typeof pairExchangeReplySchema>;

/** Pairing session statuses; not shown in the document, ours. */
export const PAIR_STATUSES = ["awaiting_approval", "approved", "exchanged", "expired", "denied"] as const;
export type PairStatus = (typeof PAIR_STATUSES)[number];

/** Bootstrap session statuses; not shown in the document, ours. */
export const BOOTSTRAP_STATUSES = ["awaiting_approval", "approved", "consumed", "expired", "denied"] as const;
export type BootstrapStatus = (typeof BOOTSTRAP_STATUSES)[number];

/** Answer of `POST /api/installer/bootstrap-sessions`. `display_code`, ours, is the code the approval page shows too. */
export const bootstrapStartReplySchema = z.looseObject({
  session_id: z.string().min(1),
  approval_url: z.string().min(1),
  poll_url: z.string().min(1),
  expires_at: z.string(),
  status: z.string().nullish(),
  poll_interval_ms: z.int().nullish(),
  display: displaySchema.nullish(),
  display_code: z.string().nullish(),
});
export type BootstrapStartReply = z.infer<typeof bootstrapStartReplySchema>;

/** Install configuration, handed out exactly once after approval. */
export const bootstrapInstallSchema = z.looseObject({
  server_name: z.string(),
  url: z.string(),
  headers: z.record(z.string(), z.string()),
});

/** Answer of the bootstrap poll; its shape is not shown in the document, ours. */
export const bootstrapPollReplySchema = z.looseObject({
  session_id: z.string().optional(),
  status: z.string(),
  expires_at: z.string().optional(),
  poll_interval_ms: z.int().nullish(),
  /** Ours: requested limits; once approved, the granted ones. */
  scopes: keyScopesSchema.nullish(),
  install: bootstrapInstallSchema.nullish(),
});
export type BootstrapPollReply = z.infer<typeof bootstrapPollReplySchema>;
