import { call, type Reply } from "../service/http-calls.ts";
import { type FuzzDocument, readDocument } from "./document.ts";

/** Sends requests and fails when an answer is off the document. */
export interface CheckedClient {
  get(path: string, key?: string): Promise<Reply>;
  post(path: string, body: unknown, o?: { key?: string; headers?: Record<string, string> }): Promise<Reply>;
}

/** Creates a client of a running service that checks every answer against its `/openapi.json`. */
export async function createCheckedClient(url: string): Promise<CheckedClient> {
  const document = await readDocument(url);
  const check = (method: "GET" | "POST", path: string, reply: Reply): Reply => {
    const operation = findOperation(document, method, path.split("?")[0] ?? "");
    const problems = operation.check(reply.status, reply.headers["content-type"]?.toString(), reply.text);
    if (problems === undefined || problems.length > 0) {
      throw new Error(
        `${method} ${path} answered ${reply.status}: ${problems?.join("; ") ?? "undocumented"} ${reply.text}`,
      );
    }
    return reply;
  };
  return {
    get: async (path, key) => check("GET", path, await call(`${url}${path}`, key === undefined ? {} : { key })),
    post: async (path, body, { key, headers = {} } = {}) => {
      const sent = Buffer.isBuffer(body) ? body : JSON.stringify(body);
      const options = { method: "POST", headers, body: sent, ...(key !== undefined && { key }) };
      return check("POST", path, await call(`${url}${path}`, options));
    },
  };
}

function findOperation({ operations }: FuzzDocument, method: string, path: string) {
  const fits = (pattern: string) => new RegExp(`^${pattern.replaceAll(/\{[^}]+\}/g, "[^/]+")}$`).test(path);
  const found = operations
    .filter((operation) => operation.method === method && fits(operation.path))
    .sort((a, b) => a.path.split("{").length - b.path.split("{").length)[0];
  if (found === undefined) throw new Error(`The document does not describe ${method} ${path}.`);
  return found;
}
