import { describe, expect, it } from "vitest";
import { findDirectLink } from "../../../src/service/fetch/share-links.ts";
import { verifies } from "../../contract/verifies.ts";

const DRIVE = "https://drive.usercontent.google.com/download?id=1AbC_d-9&export=download&confirm=t";
const ONE = "https://api.onedrive.com/v1.0/shares/u!";

const REWRITTEN: readonly (readonly [link: string, direct: string])[] = [
  ["https://drive.google.com/file/d/1AbC_d-9/view?usp=sharing", DRIVE],
  ["https://drive.google.com/file/d/1AbC_d-9", DRIVE],
  ["https://drive.google.com/file/u/1/d/1AbC_d-9/edit", DRIVE],
  ["https://drive.google.com/a/example.org/file/d/1AbC_d-9/preview", DRIVE],
  ["https://drive.google.com/open?id=1AbC_d-9&authuser=0", DRIVE],
  ["https://drive.google.com/uc?export=download&id=1AbC_d-9", DRIVE],
  ["https://docs.google.com/uc?id=1AbC_d-9", DRIVE],
  ["https://drive.google.com/file/d/1AbC_d-9/view?resourcekey=0-xY&usp=s", `${DRIVE}&resourcekey=0-xY`],
  [
    "https://docs.google.com/document/d/1Ab/edit?usp=sharing#h",
    "https://docs.google.com/document/d/1Ab/export?format=docx",
  ],
  ["https://docs.google.com/document/u/0/d/1Ab/", "https://docs.google.com/document/d/1Ab/export?format=docx"],
  [
    "https://docs.google.com/spreadsheets/d/1Ab/edit#gid=0",
    "https://docs.google.com/spreadsheets/d/1Ab/export?format=xlsx",
  ],
  [
    "https://docs.google.com/spreadsheets/d/1Ab/view?resourcekey=k",
    "https://docs.google.com/spreadsheets/d/1Ab/export?format=xlsx&resourcekey=k",
  ],
  ["https://docs.google.com/presentation/d/1Ab", "https://docs.google.com/presentation/d/1Ab/export/pptx"],
  [
    "https://docs.google.com/presentation/d/1Ab/edit?resourcekey=k",
    "https://docs.google.com/presentation/d/1Ab/export/pptx?resourcekey=k",
  ],
  ["https://www.dropbox.com/s/abc/a%20b.pdf?dl=0", "https://www.dropbox.com/s/abc/a%20b.pdf?dl=1"],
  ["https://dropbox.com/s/abc/a.pdf?raw=1", "https://www.dropbox.com/s/abc/a.pdf?dl=1"],
  [
    "https://www.dropbox.com/scl/fi/x/a.pdf?rlkey=k&e=1&st=s&dl=0",
    "https://www.dropbox.com/scl/fi/x/a.pdf?rlkey=k&st=s&dl=1",
  ],
  ["https://1drv.ms/b/s!AbC", `${ONE}aHR0cHM6Ly8xZHJ2Lm1zL2IvcyFBYkM/root/content`],
  ["https://onedrive.live.com/?id=A", `${ONE}aHR0cHM6Ly9vbmVkcml2ZS5saXZlLmNvbS8_aWQ9QQ/root/content`],
  [
    "https://acme-my.sharepoint.com/:x:/g/personal/me/E1?e=2",
    "https://acme-my.sharepoint.com/:x:/g/personal/me/E1?e=2&download=1",
  ],
  ["https://app.box.com/s/a1B2", "https://app.box.com/shared/static/a1B2"],
  [
    "https://github.com/o/r/blob/main/dir/a%20b.pdf?raw=true#L1",
    "https://raw.githubusercontent.com/o/r/main/dir/a%20b.pdf",
  ],
  ["https://www.github.com/o/r/blob/v1/a.pdf", "https://raw.githubusercontent.com/o/r/v1/a.pdf"],
  ["https://gist.github.com/user/0a1b2c", "https://gist.githubusercontent.com/user/0a1b2c/raw"],
  [
    "https://gitlab.com/g/sub/p/-/blob/main/a.pdf?ref_type=heads",
    "https://gitlab.com/g/sub/p/-/raw/main/a.pdf?ref_type=heads",
  ],
  ["https://bitbucket.org/o/r/src/main/a.pdf?at=x", "https://bitbucket.org/o/r/raw/main/a.pdf"],
  ["https://huggingface.co/o/m/blob/main/config.json", "https://huggingface.co/o/m/resolve/main/config.json"],
  ["https://huggingface.co/datasets/o/d/blob/main/a.csv", "https://huggingface.co/datasets/o/d/resolve/main/a.csv"],
];

const UNTOUCHED = [
  "https://example.org/file/d/1AbC/view",
  "https://drive.google.com.evil.example/file/d/1AbC/view",
  "https://evil-drive.google.com/file/d/1AbC/view",
  "https://drive.google.com:8443/file/d/1AbC/view",
  "https://user@drive.google.com/file/d/1AbC/view",
  "http://drive.google.com/file/d/1AbC/view",
  "https://drive.google.com/drive/folders/1AbC",
  "https://drive.google.com/open?id=a%26b%3Dc",
  "https://docs.google.com/document/d/e/2PACX-1/pub",
  "https://docs.google.com/document/d/1Ab/export?format=pdf",
  "https://docs.google.com/spreadsheets/d/1Ab/export?format=csv&gid=3",
  "https://www.dropbox.com/home",
  "https://dl.dropboxusercontent.com/s/abc/a.pdf?token=x",
  "https://onedrive.live.com/download?resid=A&authkey=B",
  "https://sharepoint.com/:x:/g/a",
  "https://a.b.sharepoint.com/:x:/g/a",
  "https://acme.sharepoint.com/sites/x/Shared%20Documents/a.pdf",
  "https://app.box.com/shared/static/a1B2.pdf",
  "https://github.com/o/r/raw/main/a.pdf",
  "https://github.com/o/r/releases/download/v1/a.zip",
  "https://raw.githubusercontent.com/o/r/main/a.pdf?token=T",
  "https://gist.github.com/user/0a1b2c/raw",
  "https://gitlab.example.org/g/p/-/blob/main/a.pdf",
  "https://bitbucket.org/o/r/src/main/",
  "https://bucket.s3.amazonaws.com/a.pdf?X-Amz-Signature=ab%2Fcd&X-Amz-Date=1",
  "https://account.blob.core.windows.net/c/a.pdf?sv=1&sig=a%2Bb%3D",
];

describe("findDirectLink", () => {
  it.each(REWRITTEN)("makes %s a download", (link, direct) => {
    verifies("files.url-share-links");
    expect(findDirectLink(new URL(link))?.url.href).toBe(direct);
  });

  it.each(UNTOUCHED)("leaves %s alone", (link) => {
    verifies("files.url-query-kept");
    expect(findDirectLink(new URL(link))).toBeUndefined();
  });

  it("gives direct addresses that need no second rewriting", () => {
    for (const [, direct] of REWRITTEN) {
      const again = findDirectLink(new URL(direct));
      expect(again === undefined || again.url.href === direct, direct).toBe(true);
    }
  });

  it("has advice where share links often fail", () => {
    expect(findDirectLink(new URL("https://1drv.ms/b/s!AbC"))?.hint).toContain("OneDrive");
    expect(findDirectLink(new URL("https://app.box.com/s/a1B2"))?.hint).toBeUndefined();
  });
});
