import { WAITING_CALL } from "../wire/mcp-app.ts";

const STYLE = `
:root { color-scheme: light dark; }
body { margin: 0; color: var(--color-text-primary, CanvasText); font: 0.875rem/1.5 var(--font-sans, system-ui, sans-serif); }
main { padding: 0.75rem; }
h1 { margin: 0 0 0.5rem; font-size: 1rem; }
pre { overflow-x: auto; margin: 0 0 0.75rem; padding: 0.5rem; border: 1px solid var(--color-border-primary, GrayText);
  border-radius: 0.375rem; font: 0.8125rem/1.45 var(--font-mono, ui-monospace, monospace); }
button { min-height: 2.75rem; padding: 0 1rem; font: inherit; font-weight: 600; }
p { margin: 0.5rem 0 0; overflow-wrap: anywhere; }
`;

/*
 * Talks to the host as MCP Apps of 2026-01-26 say, and asks it for one thing: to open the inbox in the user's browser. It
 * calls no tool and sends no message, so nothing in it decides, whoever presses the button.
 */
const SCRIPT = `
"use strict";
const main = document.querySelector("main");
const [card, open, address] = ["#card", "#open", "#address"].map((id) => document.querySelector(id));
let asked = 0;
const send = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
const fit = () => {
  const height = main.hidden ? 0 : Math.ceil(document.documentElement.getBoundingClientRect().height);
  send({ method: "ui/notifications/size-changed", params: { width: innerWidth, height } });
};
const show = (waiting) => {
  const isWaiting = typeof waiting?.url === "string" && /^https?:/.test(waiting.url) && Array.isArray(waiting.card);
  main.hidden = !isWaiting;
  if (isWaiting) {
    card.textContent = waiting.card.join("\\n");
    address.textContent = waiting.url;
  }
  fit();
};
const dress = (context) => {
  for (const [name, value] of Object.entries(context?.styles?.variables ?? {})) {
    if (typeof value === "string") document.documentElement.style.setProperty(name, value);
  }
  if (context?.theme === "light" || context?.theme === "dark") document.documentElement.style.colorScheme = context.theme;
};
open.addEventListener("click", () => send({ id: ++asked, method: "ui/open-link", params: { url: address.textContent } }));
addEventListener("message", ({ source, data }) => {
  if (source !== parent || data?.jsonrpc !== "2.0") return;
  const { id, method, params, result } = data;
  if (id === 0 && result) {
    dress(result.hostContext);
    send({ method: "ui/notifications/initialized", params: {} });
  }
  if (method === "ui/notifications/tool-result") show(params?._meta?.[${JSON.stringify(WAITING_CALL)}]);
  if (method === "ui/notifications/host-context-changed") dress(params);
  if (method !== undefined && id !== undefined) send({ id, result: {} });
});
addEventListener("resize", fit);
const app = { appInfo: { name: "svc", version: "1" }, appCapabilities: { availableDisplayModes: ["inline"] } };
send({ id: 0, method: "ui/initialize", params: { protocolVersion: "2026-01-26", ...app } });
`;

/**
 * The page that an MCP client shows beside a call which waits for the owner: the card, and a button that opens the inbox in
 * the browser, where the owner is signed in and decides. Empty for every other result. It loads nothing from anywhere.
 */
export const APPROVAL_PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Waits for your approval</title>
<style>${STYLE}</style></head>
<body>
<main hidden>
<h1>This call waits for your approval</h1>
<pre id="card" tabindex="0" aria-label="The call"></pre>
<button id="open" type="button">Open the inbox to decide</button>
<p id="address"></p>
</main>
<script>${SCRIPT}</script>
</body>
</html>
`;

/** Presentation that the page asks its host for. */
export const APPROVAL_PAGE_META = { ui: { prefersBorder: false } } as const;
