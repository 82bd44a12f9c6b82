export { svcPlugin as default } from "./plugin/runtimes/openclaw/svc-plugin.ts";
