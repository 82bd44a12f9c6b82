import type { ApprovalRequest } from "../../approvals/request.ts";
import type { HostApprovalScope } from "./host-hook.ts";

const MAIL_APPS: ReadonlySet<string> = new Set([
  "mail",
  "gmail",
  "outlook",
  "microsoft-outlook",
  "fastmail",
  "zoho-mail",
]);
const ADDRESS = /^(?:[^<>@]{0,80}<)?[^\s<>@,;]+@[^\s<>@,;]+>?$/;
const DECIMAL = /^\d{1,12}\.\d{2}$/;

/**
 * What the host may say in its own words about a call: a mail with its recipients, a payment, a post. Only where
 * arguments leave no doubt; a guess would be worse than nothing. Never changes what is decided.
 */
export function findScope(request: ApprovalRequest): HostApprovalScope | undefined {
  return findMail(request) ?? findPayment(request) ?? findPost(request);
}

function findMail({ integration, tool, arguments: args }: ApprovalRequest): HostApprovalScope | undefined {
  if (!MAIL_APPS.has(integration) || !/send/i.test(tool) || /draft/i.test(tool)) return undefined;
  const lists = [args.to, args.cc, args.bcc].filter((list) => list !== undefined).map(readAddresses);
  if (lists.length === 0 || lists.includes(undefined)) return undefined;
  const recipients = lists.flatMap((list) => list ?? []);
  if (recipients.length === 0) return undefined;
  return {
    kind: "message-send",
    target: integration,
    recipientCount: recipients.length,
    recipients: recipients.slice(0, 5),
  };
}

/** Undefined when anything in it is not plainly an address. */
function readAddresses(value: unknown): readonly string[] | undefined {
  const list: unknown[] = Array.isArray(value) ? value : [value];
  const addresses = list.filter((item): item is string => typeof item === "string" && item.length <= 128);
  return addresses.length === list.length && addresses.every((item) => ADDRESS.test(item)) ? addresses : undefined;
}

/** Whole numbers may be cents: only an amount written with its decimals is certain. */
function findPayment({ integration, tool, arguments: args }: ApprovalRequest): HostApprovalScope | undefined {
  const { amount, currency } = args;
  if (!/(^|[_.-])(pay|payment|payout|charge|transfer)([_.-]|$)/i.test(tool)) return undefined;
  if (typeof amount !== "string" || !DECIMAL.test(amount)) return undefined;
  if (typeof currency !== "string" || !/^[A-Za-z]{3}$/.test(currency)) return undefined;
  return { kind: "payment", amount, currency: currency.toUpperCase(), target: integration };
}

function findPost({ integration, tool, arguments: args }: ApprovalRequest): HostApprovalScope | undefined {
  if (!/(^|[_.-])(post|publish|toot|tweet)([_.-]|$)/i.test(tool)) return undefined;
  if (args.visibility === "public") return { kind: "external-post", target: integration, visibility: "public" };
  const isRestricted = args.visibility === "private" || args.visibility === "followers";
  return isRestricted ? { kind: "external-post", target: integration, visibility: "restricted" } : undefined;
}
