import type { SourceRow } from "../../../src/service/store/schema.ts";

const CONTENT = {
  description: "Sends parcels.",
  category: "commerce",
  scopes: [],
  actions: [
    {
      id: "track",
      title: "Track",
      description: "Says where a parcel is.",
      level: "read",
      requiresConfirmation: false,
      idempotent: true,
      inputSchema: {
        type: "object",
        properties: { id: { type: "string", description: "Parcel" } },
        required: ["id"],
        additionalProperties: false,
      },
      scopes: [],
      call: { do: "run", action: "track" },
    },
  ],
  settingsForm: [{ name: "secret", label: "API key", kind: "secret", help: "From your account." }],
};

const DEFINITION = {
  package: "@activepieces/piece-parcel",
  version: "1.2.3",
  integrity: "sha512-brmIFM+J7OO3PUeufBHzErgRsh6NtawA6AJGTA5jx7UyDT7lOjPkgKVHf051OA5VW4Cx99a1as9a/1AkrFjy7A==",
  folder: "pieces/parcel/1.2.3",
  auth: { type: "SECRET_TEXT", fields: [{ setting: "secret", name: "secret", type: "SECRET_TEXT" }] },
  hosts: {},
  isPrivate: false,
};

/** The row that "svc add piece parcel" of an earlier version stored. */
export const RETIRED_PIECE: SourceRow = {
  slug: "parcel",
  kind: "piece",
  name: "Parcel",
  definition: JSON.stringify(DEFINITION),
  content: JSON.stringify(CONTENT),
  digest: "a4a7dbb0243c7c4ea4414131718f6174739ff351b52f77640b2912a53a334849",
  proposed_content: null,
  proposed_digest: null,
  proposed_at: null,
  proposal_dismissed: 0,
  revision: "rev_vda84errd7fb",
  added_at: "2026-11-20T06:10:12.220Z",
};

/** The connection of {@link RETIRED_PIECE}. */
export const RETIRED_CONNECTION = {
  id: "con_hz8966kpz3p2",
  integration: "parcel",
  label: "Parcel office",
  settings: "{}",
  scopes: "[]",
  state: "healthy",
  is_default: 1,
  created_at: "2026-11-20T06:10:12.225Z",
  updated_at: "2026-11-20T06:10:12.225Z",
} as const;
