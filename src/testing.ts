export { startTestService, type TestService } from "./service/test-kit/start-test-service.ts";
