import { chooseEngine } from "../../../src/service/flows/engines/choose-engine.ts";
import { describeFlows } from "./flow-suite.ts";

describeFlows("OpenWorkflow", (dataDir) => chooseEngine({ dataDir }));
