import { expectTypeOf } from "vitest";
import { createService, type Service, type ServiceOptions } from "../../src/service.ts";
import { startTestService } from "../../src/testing.ts";

expectTypeOf<{ dataDir: string }>().toExtend<ServiceOptions>();
expectTypeOf<{ dataDir: string; port: number; host: string; ingestSecret: null }>().toExtend<ServiceOptions>();
// @ts-expect-error a service needs a data folder
void createService({ port: 0 });
// @ts-expect-error a port is a number
void createService({ dataDir: "x", port: "8790" });

expectTypeOf(createService).returns.resolves.toEqualTypeOf<Service>();
declare const service: Service;
expectTypeOf(service.url).toEqualTypeOf<string>();
expectTypeOf(service.signInUrl).returns.resolves.toEqualTypeOf<string>();
expectTypeOf(service.close).returns.resolves.toEqualTypeOf<void>();

expectTypeOf(startTestService).toBeCallableWith();
expectTypeOf<Awaited<ReturnType<typeof startTestService>>["apiKey"]>().toEqualTypeOf<string>();
