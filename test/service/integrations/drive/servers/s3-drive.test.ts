import { describeDrive } from "../describe-drive.ts";
import { FAUXQS } from "./find-drive-servers.ts";
import { startServer } from "./start-server.ts";

describeDrive(
  "a bucket of fauxqs",
  async () => {
    const env = { FAUXQS_LOGGER: "false" };
    const server = await startServer(({ port }) => ({
      command: [process.execPath, FAUXQS],
      env: { ...env, FAUXQS_PORT: String(port) },
    }));
    const endpoint = `http://127.0.0.1:${server.port}`;
    await fetch(`${endpoint}/files`, { method: "PUT" });
    let opened = 0;
    const open = async () => ({
      ...{ s3Bucket: "files", s3Endpoint: endpoint, s3Prefix: `drives/${++opened} ä` },
      ...{ s3AccessKeyId: "any", s3SecretAccessKey: "any" },
    });
    return { open, close: server.close };
  },
  { isConditional: false },
);
