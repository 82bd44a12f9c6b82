import type { StructuredTool } from "@langchain/core/tools";
import type { AgentMiddleware } from "langchain";
import { expectTypeOf } from "vitest";
import type { Approver } from "../../src/index.ts";
import {
  createApprovalMiddleware,
  type ProgressEvent,
  SvcToolkit,
  type SvcToolkitOptions,
} from "../../src/langchain.ts";

// The documented call: everything but address and key may be left out.
expectTypeOf<{ baseUrl: string; apiKey: string }>().toExtend<SvcToolkitOptions>();
expectTypeOf<{
  baseUrl: string;
  apiKey: string;
  mediaRoots: string[];
  approve: Approver;
  stateDir: string;
}>().toExtend<SvcToolkitOptions>();
expectTypeOf(SvcToolkit.create).returns.resolves.toEqualTypeOf<SvcToolkit>();
// @ts-expect-error a client or address and key
void SvcToolkit.create({ mediaRoots: [] });

declare const toolkit: SvcToolkit;
expectTypeOf(toolkit.getTools({ integrations: ["mail"], tools: [], levels: ["read"], limit: 5 })).toExtend<
  StructuredTool[]
>();
// @ts-expect-error not a level
toolkit.getTools({ levels: ["execute"] });

// An approver answers with a decision that repeats id and fingerprint; a bare yes is no decision.
expectTypeOf<
  (request: { id: string; fingerprint: string }) => Promise<{ type: "approve"; id: string; fingerprint: string }>
>().toExtend<Approver>();
expectTypeOf<() => Promise<true>>().not.toExtend<Approver>();
expectTypeOf<() => Promise<{ type: "approve" }>>().not.toExtend<Approver>();

// The middleware fits an agent's list; it is loaded on demand, so it comes as a promise.
expectTypeOf(createApprovalMiddleware(toolkit)).resolves.toExtend<AgentMiddleware>();
expectTypeOf<{
  baseUrl: string;
  apiKey: string;
  askThrough: "callback";
  interruptTtlMs: 1;
}>().toExtend<SvcToolkitOptions>();
// @ts-expect-error not a way to ask
void SvcToolkit.create({ baseUrl: "", apiKey: "", askThrough: "model" });
expectTypeOf<"sending">().toExtend<ProgressEvent["step"]>();
