import { serve } from "@hono/node-server";
import { Hono } from "hono";

/*
 * The floor: the same framework and server with nothing behind it. It answers each request with as many bytes of JSON
 * as `size` in the query asks for, after parsing the body of a POST.
 */
const app = new Hono();
const bodies = new Map<number, string>();

function bodyOf(size: number): string {
  const known = bodies.get(size);
  if (known !== undefined) return known;
  const body = JSON.stringify({ filler: "x".repeat(Math.max(0, size - 13)) });
  bodies.set(size, body);
  return body;
}

app.all("/bare", async (c) => {
  if (c.req.method === "POST") await c.req.json();
  return c.body(bodyOf(Number(c.req.query("size"))), 200, { "content-type": "application/json" });
});

const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => {
  console.log(`Listening on http://127.0.0.1:${port}`);
});
process.on("SIGTERM", () => server.close());
