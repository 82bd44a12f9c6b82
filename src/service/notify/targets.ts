import { sha256Hex } from "../../shared/base/hash.ts";
import { SvcError } from "../../shared/errors.ts";
import { readWebhookSecret } from "./standard-webhook.ts";

/**
 * A target of notes, alone or with its secret: the access token of an ntfy server, or the key that signs for a webhook
 * (`whsec_…`, as in Standard Webhooks).
 */
export type NotifyTarget = string | { readonly to: string; readonly secret?: string };

/** Where notes go: only the owner's configuration names them. */
export type Target = {
  /** SHA-256 of the address, under which its state is stored: an ntfy topic is as good as a password. */
  readonly key: string;
  /** Names it to people, without topic and path. */
  readonly label: string;
} & (
  | { readonly kind: "ntfy"; readonly server: string; readonly topic: string; readonly token: string | undefined }
  | { readonly kind: "webhook"; readonly url: string; readonly secret: Buffer }
  | { readonly kind: "mail"; readonly address: string; readonly connectionId: string | undefined }
);

const FORMS = "ntfy:https://HOST/TOPIC, webhook:https://HOST/PATH, mail:ADDRESS or mail:CONNECTION:ADDRESS";

/**
 * Reads the targets of an option.
 *
 * @throws SvcError `invalid_config`, field `notify`; the address is not in the message.
 */
export function readTargets(targets: readonly NotifyTarget[]): Target[] {
  const read = targets.map((target) =>
    typeof target === "string" ? readTarget(target) : readTarget(target.to, target.secret),
  );
  return [...new Map(read.map((target) => [target.key, target])).values()];
}

function readTarget(to: string, secret?: string): Target {
  const [, kind, rest = ""] = /^(ntfy|webhook|mail):(\S+)$/.exec(to) ?? [];
  const key = sha256Hex(to);
  if (kind === "mail") return readMail(key, rest);
  const url = URL.parse(rest);
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
  if (kind === undefined || url === null || !isWeb || url.username !== "" || url.password !== "") throw refuse();
  const label = `${kind} at ${url.host}`;
  if (kind === "webhook") return { key, label, kind, url: url.href, secret: readSecret(secret) };
  const [, topic] = /^\/([\w-]{1,64})$/.exec(url.pathname) ?? [];
  if (topic === undefined || url.search !== "") throw refuse();
  return { key, label, kind: "ntfy", server: `${url.origin}/`, topic, token: secret };
}

function readMail(key: string, rest: string): Target {
  const [, connectionId, address] = /^(?:(\w+):)?([^\s:@]+@[^\s:@]+)$/.exec(rest) ?? [];
  if (address === undefined) throw refuse();
  return { key, label: `mail to ${address}`, kind: "mail", address, connectionId };
}

function readSecret(secret: string | undefined): Buffer {
  const bytes = readWebhookSecret(secret);
  if (bytes !== undefined) return bytes;
  const hint =
    'Set it (environment: SVC_WEBHOOK_SECRET) to "whsec_" and 24 to 64 bytes in base64, here and at the receiver: echo "whsec_$(openssl rand -base64 32)"';
  throw new SvcError("invalid_config", "A webhook needs a secret that signs its notes.", { field: "notify", hint });
}

function refuse(): SvcError {
  const message = "The option notify has a target that cannot be used.";
  return new SvcError("invalid_config", message, { field: "notify", hint: `Use one of: ${FORMS}.` });
}
