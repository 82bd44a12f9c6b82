import { createHash } from "node:crypto";

/** The style sheet of every page; no page loads anything else. */
export const STYLE = `
:root{color-scheme:light dark;--bg:#f5f5f2;--card:#fff;--text:#1b1f23;--muted:#59626c;--line:#dcdedb;--accent:#0b6b5d;--on-accent:#fff;--wash:#eef5f3;--danger:#a3282c}
@media (prefers-color-scheme:dark){:root{--bg:#121517;--card:#1a1e21;--text:#e9ebed;--muted:#a3acb5;--line:#30363b;--accent:#62d1b8;--on-accent:#06231d;--wash:#182825;--danger:#ff9a94}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--text);font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;-webkit-text-size-adjust:100%}
header,main,footer{max-width:40rem;margin:0 auto;padding:0 1.25rem}
header{display:flex;justify-content:space-between;align-items:center;min-height:4.5rem}
header a{color:inherit;text-decoration:none;font-weight:650;font-size:1.125rem;letter-spacing:-.01em}
header a::before{content:"";display:inline-block;width:.7em;height:.7em;border-radius:50%;background:var(--accent);margin-right:.5em}
main{padding-bottom:1.5rem}main>h1{margin:.5rem 0 1.25rem}
footer{padding-bottom:2.5rem;color:var(--muted);font-size:.875rem}
.card{background:var(--card);border:1px solid var(--line);border-radius:14px;padding:2rem;margin-bottom:1.25rem}
h1{font-size:1.625rem;line-height:1.25;letter-spacing:-.015em;margin:0 0 .75rem}
h2{font-size:1.0625rem;line-height:1.3;margin:0 0 .75rem}
p{margin:0 0 1rem}
.card>:last-child{margin-bottom:0}
.muted{color:var(--muted)}
.code{margin:1.5rem 0;padding:1.25rem;border-radius:10px;background:var(--wash);text-align:center}
.code p{margin:0;color:var(--muted);font-size:.9375rem}
.code strong{display:block;font:600 2.25rem/1.3 ui-monospace,"SF Mono","Cascadia Mono","DejaVu Sans Mono",monospace;letter-spacing:.08em;color:var(--text)}
code,pre{font-family:ui-monospace,"SF Mono","Cascadia Mono","DejaVu Sans Mono",monospace;font-size:.9375em}
pre{margin:0 0 1rem;padding:.875rem 1rem;border-radius:10px;background:var(--wash);overflow-x:auto}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.375rem 1.5rem;margin:0 0 1.5rem}
dt{color:var(--muted)}
dd{margin:0;overflow-wrap:anywhere}
ul{margin:0 0 1.5rem;padding-left:1.25rem}
li{margin-bottom:.375rem}
.actions{display:flex;flex-wrap:wrap;gap:.75rem;margin-top:1.5rem}
button{font:inherit;font-weight:600;min-height:2.75rem;padding:.5rem 1.25rem;border-radius:10px;border:1px solid var(--line);background:transparent;color:var(--text);cursor:pointer}
button:hover{border-color:var(--muted)}
button.primary{background:var(--accent);border-color:var(--accent);color:var(--on-accent);flex:1 1 12rem}
button.primary:hover{filter:brightness(1.07)}
button.secondary{flex:1 1 8rem}
button.danger{color:var(--danger);border-color:currentColor}
button.quiet{min-height:2.25rem;padding:.25rem .875rem;font-weight:500;font-size:.9375rem}
a{color:var(--accent)}
:focus-visible{outline:3px solid var(--accent);outline-offset:3px;border-radius:6px}
.rows{list-style:none;padding:0;margin:0}
.rows>li{display:flex;flex-wrap:wrap;gap:.25rem 1rem;justify-content:space-between;align-items:center;padding:.875rem 0;border-top:1px solid var(--line);margin:0}
.rows>li:first-child{border-top:0;padding-top:0}
.rows>li:last-child{padding-bottom:0}
.rows strong{display:block;overflow-wrap:anywhere}
.rows .muted{font-size:.9375rem}
.rows>li>div{flex:1 1 14rem;min-width:0}
.tag{font-size:.875rem;color:var(--muted);border:1px solid var(--line);border-radius:99px;padding:.0625rem .625rem;white-space:nowrap}
details{max-width:100%}
summary{cursor:pointer;padding:.375rem 0;color:var(--muted)}
details[open]{flex-basis:100%}
details form{margin-top:.5rem}
.notice{border:1px solid var(--accent);background:var(--wash);border-radius:10px;padding:.75rem 1rem;margin-bottom:1.25rem}
@media (max-width:30rem){.card{padding:1.5rem 1.25rem}.code strong{font-size:1.875rem}dl{column-gap:1rem}.code p{font-size:.875rem}h1{font-size:1.4375rem}}
`.trim();

const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");

/** Headers of every page: nothing may be loaded, framed, stored or posted elsewhere. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  // With no-referrer, Chromium posts forms with `Origin: null`, which the origin check would refuse.
  "referrer-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "cache-control": "no-store",
};
