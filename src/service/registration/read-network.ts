import { isIPv6 } from "node:net";

/**
 * What stands for everybody who can easily have an address: an IPv4 address itself, of an IPv6 address the first 64 bits,
 * within which a machine chooses freely.
 */
export function readNetwork(address: string): string {
  const [plain = ""] = address.split("%");
  if (!isIPv6(plain)) return plain;
  const [head = "", tail] = plain.split("::");
  const before = head.split(":").filter((group) => group !== "");
  const after = tail?.split(":").filter((group) => group !== "") ?? [];
  const filled = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => "0");
  const groups = [...before, ...filled, ...after].slice(0, 4);
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":");
}
