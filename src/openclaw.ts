export { svcPlugin as default } from "./runtimes/openclaw/svc-plugin.ts";
