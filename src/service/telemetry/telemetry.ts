/** Attributes of a span. Never an argument, an account, a device or a person. */
type Attributes = Record<string, string | number>;

interface ApiSpan {
  setAttributes(attributes: Attributes): unknown;
  setStatus(status: { code: number }): unknown;
  end(): void;
}

/** The part of `@opentelemetry/api` that is used; pass the module itself. */
export interface OpenTelemetryApi {
  readonly trace: {
    getTracer(name: string): {
      startSpan(name: string, options: { kind: number; attributes: Attributes }, context: unknown): ApiSpan;
    };
    getSpan(context: unknown): unknown;
    setSpan(context: unknown, span: unknown): unknown;
  };
  readonly context: { active(): unknown; with<T>(context: unknown, work: () => T): T };
  readonly propagation: { extract(context: unknown, carrier: unknown): unknown };
}

/** Work that a span stands for. */
interface Traced {
  readonly name: string;
  readonly kind: "internal" | "server" | "client";
  readonly attributes: Attributes;
  /** Headers of a request, which may name the span of its caller. */
  readonly headers?: Headers;
}

/** How it ended; a rejection is an error in any case. */
interface TracedEnd {
  readonly isError: boolean;
  readonly attributes: Attributes;
}

/**
 * Does work within a span, whose parent is the span that is active, or the one that the headers name; without OpenTelemetry
 * it does the work and nothing else.
 */
export type Trace = <T>(traced: Traced, work: () => Promise<T>, describe?: (result: T) => TracedEnd) => Promise<T>;

/** Where nobody asked for spans. */
export const traceNothing: Trace = (_traced, work) => work();

/** As numbers in the API. */
const KINDS = { internal: 0, server: 1, client: 2 } as const;
const ERROR = { code: 2 } as const;

/** Spans of the tracer `svc-agent-plugin`; they go where the SDK of this process sends them. */
export function createTrace({ trace, context, propagation }: OpenTelemetryApi): Trace {
  const tracer = trace.getTracer("svc-agent-plugin");
  return async (traced, work, describe) => {
    const { name, kind, attributes, headers } = traced;
    const active = context.active();
    const isRoot = headers !== undefined && trace.getSpan(active) === undefined;
    const parent = isRoot ? propagation.extract(active, Object.fromEntries(headers)) : active;
    const span = tracer.startSpan(name, { kind: KINDS[kind], attributes }, parent);
    try {
      const result = await context.with(trace.setSpan(parent, span), work);
      const end = describe?.(result);
      if (end !== undefined) span.setAttributes(end.attributes);
      if (end?.isError) span.setStatus(ERROR);
      return result;
    } catch (error) {
      span.setStatus(ERROR);
      throw error;
    } finally {
      span.end();
    }
  };
}
