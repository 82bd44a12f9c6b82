interface ShareLink {
  readonly hosts: readonly string[] | RegExp;
  /** Shape of the path; other paths of the host are left alone. */
  readonly path: RegExp;
  /** Direct address; undefined when the link is not of this shape after all. */
  rewrite(url: URL, parts: readonly string[]): string | undefined;
  /** Said instead of the general advice when no file comes back. */
  readonly hint?: string;
}

const ONE_DRIVE_HINT =
  "OneDrive gives many shared files only to people who are signed in. Download the file and send its bytes in the files envelope.";

/** Keeps the named query parameters, in this order. */
function keep(url: URL, ...names: string[]): URLSearchParams {
  return new URLSearchParams(
    names.flatMap((name) => url.searchParams.getAll(name).map((value): [string, string] => [name, value])),
  );
}

function toDriveDownload(url: URL, id: string | null | undefined): string | undefined {
  if (!id || !/^[\w-]+$/.test(id)) return undefined;
  const query = new URLSearchParams({ id, export: "download", confirm: "t" });
  for (const [name, value] of keep(url, "resourcekey")) query.append(name, value);
  return `https://drive.usercontent.google.com/download?${query}`;
}

function toOneDriveContent(url: URL): string {
  const share = Buffer.from(url.href).toString("base64url");
  return `https://api.onedrive.com/v1.0/shares/u!${share}/root/content`;
}

const SHARE_LINKS: readonly ShareLink[] = [
  {
    hosts: ["drive.google.com", "docs.google.com"],
    path: /^\/(?:a\/[^/]+\/)?file\/(?:u\/\d+\/)?d\/([\w-]+)(?:\/|$)/,
    rewrite: (url, [, id]) => toDriveDownload(url, id),
  },
  {
    hosts: ["drive.google.com", "docs.google.com"],
    path: /^\/(?:a\/[^/]+\/)?(?:u\/\d+\/)?(?:open|uc)$/,
    rewrite: (url) => toDriveDownload(url, url.searchParams.get("id")),
  },
  {
    hosts: ["docs.google.com"],
    path: /^\/(?:a\/[^/]+\/)?(document|spreadsheets|presentation)\/(?:u\/\d+\/)?d\/(?!e\/)([\w-]+)(?:\/(?:edit|view|preview|mobilebasic|htmlview|present)?)?$/,
    rewrite(url, [, kind, id]) {
      const format = { document: "?format=docx", spreadsheets: "?format=xlsx", presentation: "/pptx" }[kind ?? ""];
      const key = keep(url, "resourcekey").toString();
      const query = key === "" ? "" : `${format?.includes("?") ? "&" : "?"}${key}`;
      return `https://docs.google.com/${kind}/d/${id}/export${format}${query}`;
    },
  },
  {
    hosts: ["www.dropbox.com", "dropbox.com"],
    path: /^\/(?:s|scl\/fi)\/./,
    rewrite(url) {
      const query = keep(url, "rlkey", "st");
      query.set("dl", "1");
      return `https://www.dropbox.com${url.pathname}?${query}`;
    },
  },
  { hosts: ["1drv.ms"], path: /^\/./, rewrite: toOneDriveContent, hint: ONE_DRIVE_HINT },
  {
    hosts: ["onedrive.live.com"],
    path: /^\/(?!download(?:\.aspx)?$)/,
    rewrite: (url) => (url.search === "" ? undefined : toOneDriveContent(url)),
    hint: ONE_DRIVE_HINT,
  },
  {
    hosts: /^[a-z0-9-]+\.sharepoint\.com$/,
    path: /^\/:[a-z]:\//,
    rewrite(url) {
      const direct = new URL(url);
      direct.searchParams.set("download", "1");
      return direct.href;
    },
    hint: ONE_DRIVE_HINT,
  },
  {
    hosts: ["app.box.com"],
    path: /^\/s\/([A-Za-z0-9]+)\/?$/,
    rewrite: (_url, [, hash]) => `https://app.box.com/shared/static/${hash}`,
  },
  {
    hosts: ["github.com", "www.github.com"],
    path: /^\/([^/]+\/[^/]+)\/blob\/([^/]+\/.+)$/,
    rewrite: (_url, [, repository, file]) => `https://raw.githubusercontent.com/${repository}/${file}`,
  },
  {
    hosts: ["gist.github.com"],
    path: /^\/([^/]+\/[0-9a-f]+)\/?$/,
    rewrite: (_url, [, gist]) => `https://gist.githubusercontent.com/${gist}/raw`,
  },
  {
    hosts: ["gitlab.com"],
    path: /^\/(.+?)\/-\/blob\/(.+)$/,
    rewrite: (url, [, project, file]) => `https://gitlab.com/${project}/-/raw/${file}${url.search}`,
  },
  {
    hosts: ["bitbucket.org"],
    path: /^\/([^/]+\/[^/]+)\/src\/([^/]+\/.*[^/])$/,
    rewrite: (_url, [, repository, file]) => `https://bitbucket.org/${repository}/raw/${file}`,
  },
  {
    hosts: ["huggingface.co", "hf.co"],
    path: /^\/(.+?)\/blob\/([^/]+\/.+)$/,
    rewrite: (url, [, repository, file]) => `https://${url.hostname}/${repository}/resolve/${file}${url.search}`,
  },
];

/** Where to fetch, and advice for the case that no file comes back. */
export interface DirectLink {
  readonly url: URL;
  readonly hint?: string | undefined;
}

/**
 * The direct download behind a share link of a common file host ("File rules" 3). Undefined for every other address,
 * whose path and query are then used as they are.
 */
export function findDirectLink(url: URL): DirectLink | undefined {
  if (url.protocol !== "https:" || url.port !== "" || url.username !== "" || url.password !== "") return undefined;
  for (const { hosts, path, rewrite, hint } of SHARE_LINKS) {
    const isHost = hosts instanceof RegExp ? hosts.test(url.hostname) : hosts.includes(url.hostname);
    const parts = isHost ? path.exec(url.pathname) : null;
    const direct = parts === null ? undefined : rewrite(url, parts);
    if (direct !== undefined) return { url: new URL(direct), hint };
  }
  return undefined;
}
