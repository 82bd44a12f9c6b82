import { createHash } from "node:crypto";

/** Colours, each pair at least 4.5:1 for text and 3:1 for edges of fields. */
const COLOURS = `
:root{color-scheme:light dark;--bg:#f5f5f2;--card:#fff;--text:#1b1f23;--muted:#59626c;--line:#dfe1dd;--field:#868e96;--accent:#0b6b5d;--on-accent:#fff;--wash:#eef5f3;--warn:#8a5a00;--warn-wash:#fbf5e8;--danger:#a3282c;--danger-wash:#fbf0ef}
@media (prefers-color-scheme:dark){:root{--bg:#121517;--card:#1a1e21;--text:#e9ebed;--muted:#a3acb5;--line:#2d3338;--field:#727c85;--accent:#62d1b8;--on-accent:#06231d;--wash:#182825;--warn:#e9b44c;--warn-wash:#28231a;--danger:#ff9a94;--danger-wash:#2b1f1f}}
`;

const FRAME = `
*{box-sizing:border-box}
[hidden]{display:none!important}
body{margin:0;overflow-wrap:break-word;background:var(--bg);color:var(--text);font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;-webkit-text-size-adjust:100%}
header,main,footer{max-width:40rem;margin:0 auto;padding:0 1.25rem}
.wide header,.wide main,.wide footer{max-width:60rem}
header{display:flex;flex-wrap:wrap;gap:.25rem 1.5rem;align-items:center;min-height:4.5rem}
.brand{color:inherit;text-decoration:none;font-weight:650;font-size:1.125rem;letter-spacing:-.01em;margin-right:auto;padding:.5rem 0}
.brand::before{content:"";display:inline-block;width:.7em;height:.7em;border-radius:50%;background:var(--accent);margin-right:.5em}
header nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.25rem;margin:0;padding:0}
header nav li{margin:0}
header nav a{display:block;padding:.375rem .75rem;border-radius:8px;color:var(--muted);text-decoration:none;font-size:.9375rem}
header nav a:hover{color:var(--text)}
header nav a[aria-current]{background:var(--wash);color:var(--text);font-weight:600}
.me{max-width:10rem;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;padding:.375rem 0;color:var(--muted);font-size:.9375rem}
.me:hover,.me[aria-current]{color:var(--text)}
.hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.skip{position:absolute;left:-100rem}
.skip:focus{left:1rem;top:1rem;padding:.5rem 1rem;background:var(--card);border-radius:8px}
main{padding-bottom:1.5rem}
footer{padding-bottom:2.5rem;color:var(--muted);font-size:.875rem}
main:focus{outline:0}
`;

const TEXT = `
h1{font-size:1.625rem;line-height:1.25;letter-spacing:-.015em;margin:0 0 .75rem;overflow-wrap:anywhere}
h2{font-size:1.0625rem;line-height:1.3;margin:0 0 .75rem}
main>h1{margin:.75rem 0 1.25rem}
.lead{color:var(--muted);margin:-.75rem 0 1.25rem}
.lead .tag{font-size:inherit}
p{margin:0 0 1rem}
ul,ol{margin:0 0 1.5rem;padding-left:1.25rem}
li{margin-bottom:.375rem}
a{color:var(--accent)}
time[title]{cursor:help}
.muted{color:var(--muted)}
code,pre{font-family:ui-monospace,"SF Mono","Cascadia Mono","DejaVu Sans Mono",monospace;font-size:.9375em}
code{overflow-wrap:anywhere}
pre{margin:0 0 1rem;padding:.875rem 1rem;border-radius:10px;background:var(--wash);overflow-x:auto;max-height:32rem}
.copy{user-select:all}
.line{white-space:pre-wrap;overflow-wrap:anywhere;padding:.5rem .875rem;margin:0 0 .75rem}
h3{font-size:1rem;line-height:1.3;margin:0 0 .5rem}
.steps{list-style:none;padding:0;margin:0}
.steps>li{padding:1rem 0;border-top:1px solid var(--line);margin:0}
.steps>li:last-child{padding-bottom:0}
.steps h3{display:flex;flex-wrap:wrap;gap:.25rem 1rem;justify-content:space-between;margin:0}
.steps h3 .tag{font-weight:400}
.steps h3+p{margin-top:.5rem}
.steps p{margin-bottom:.5rem}
.steps>li>:last-child{margin-bottom:0}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.375rem 1.5rem;margin:0 0 1.5rem}
dt{color:var(--muted)}
dd{margin:0;overflow-wrap:anywhere}
:focus-visible{outline:3px solid var(--accent);outline-offset:3px;border-radius:6px}
`;

const BLOCKS = `
.card{background:var(--card);border:1px solid var(--line);border-radius:14px;padding:2rem;margin-bottom:1.25rem}
.wide .card{padding:1.5rem}
.card>:last-child{margin-bottom:0}
.columns>.card{margin:0}
.columns{margin-bottom:1.25rem;display:grid;grid-template-columns:repeat(auto-fit,minmax(min(22rem,100%),1fr));gap:1.25rem;align-items:start}
.title{display:flex;flex-wrap:wrap;gap:.25rem 1rem;justify-content:space-between;align-items:baseline;margin-bottom:.75rem}
.title h2{margin:0}
.code{margin:1.5rem 0;padding:1.25rem;border-radius:10px;background:var(--wash);text-align:center}
.code p{margin:0;color:var(--muted);font-size:.9375rem}
.code strong{display:block;font:600 2.25rem/1.3 ui-monospace,"SF Mono","Cascadia Mono","DejaVu Sans Mono",monospace;letter-spacing:.08em;color:var(--text)}
.notice{border:1px solid var(--line);border-left:4px solid var(--accent);background:var(--wash);border-radius:10px;padding:.75rem 1rem;margin-bottom:1.25rem}
.notice.warn{border-left-color:var(--warn);background:var(--warn-wash)}
.notice.bad{border-left-color:var(--danger);background:var(--danger-wash)}
.notice>:last-child{margin-bottom:0}
.rows{list-style:none;padding:0;margin:0}
.rows>li{display:flex;flex-wrap:wrap;gap:.25rem 1rem;justify-content:space-between;align-items:center;padding:.875rem 0;border-top:1px solid var(--line);margin:0}
.rows+h2,.rows+form,form+form,form+details~form,form+p+form{margin-top:1.5rem}
form+details{margin-top:.5rem}
.rows>li:first-child{border-top:0;padding-top:0}
.rows>li:last-child{padding-bottom:0}
.rows>li>div{flex:1 1 10rem;min-width:0}
.rows strong a{color:inherit;text-decoration-color:var(--field);text-underline-offset:.2em}
.rows strong a:hover{color:var(--accent);text-decoration-color:currentColor}
.rows strong{display:block;overflow-wrap:anywhere}
.rows .muted{font-size:.9375rem;overflow-wrap:anywhere}
.rows>li>.problem,.rows>li>.grant,.rows>li>details{flex-basis:100%;margin:0}
.known{margin:1.25rem 0 1rem}
.rows>li>.level{flex:0 0 8rem}
.rows .level select{margin:0}
.changes .level{margin-top:.75rem}
.changes .level select{max-width:12rem}
.changes .level .help{margin:.375rem 0 0}
.card>summary+*{margin-top:.75rem}
.text{white-space:pre-wrap;overflow-wrap:anywhere}
.value{overflow:hidden;padding:.5rem .875rem;border-left:3px solid var(--accent);border-radius:0 8px 8px 0;background:var(--wash)}
.rows .value strong{display:inline}
.value .text{white-space:break-spaces}
.arguments{display:block}
.arguments dt{margin-bottom:.25rem}
.arguments dd{margin-bottom:1rem}
.changed{display:block;margin-bottom:.75rem}
.changed>div{display:flex;flex-wrap:wrap;gap:.125rem .75rem;align-items:baseline;margin-bottom:.5rem}
.changed dd{flex:1 1 auto;min-width:0;max-width:100%}
.changed .value{padding:.125rem .75rem}
.changed .whole{flex-basis:100%}
.changed pre{margin:0}
.sentence{font-size:1.3125rem}
.follows{margin-bottom:1rem}
.follows li{margin-bottom:.25rem}
.objects>li{margin-bottom:.5rem}
.objects dl{display:block}
.objects dl>div{display:flex;gap:.5rem}
.objects dt{flex:none;max-width:9rem}
.objects dd{min-width:0;overflow-wrap:anywhere}
.objects.many dl{display:flex;flex-wrap:wrap;gap:0 .75rem}
strong.bad{color:var(--danger)}
.files>li>.muted{flex-basis:100%;margin:0}
.rows>li>.picture{flex-basis:100%}
.picture img{display:block;max-width:100%;max-height:24rem;border:1px solid var(--line);border-radius:8px;background:var(--wash)}
.object{display:block;overflow-wrap:anywhere}
.lead .object{color:var(--text)}
.json{white-space:pre-wrap;overflow-wrap:anywhere}
.fold>summary{font-weight:600;color:var(--text)}
.fold[open]>summary{margin-bottom:.5rem}
.later{margin:1rem 0 0}
.pick{padding:.75rem .75rem .75rem 0;margin:-.75rem 0}
.pick input{width:1.25rem;height:1.25rem;margin:0;accent-color:var(--accent);vertical-align:middle}
.requests>li>div{flex-basis:8rem}
.requests>li>:is(div,.pick){align-self:start}
.digest{display:block;overflow-wrap:anywhere}
.calls{list-style:none;padding:0;margin:.25rem 0 0}
.rows>li>.calls{flex-basis:100%}
.data>li>.choice{margin:0 0 .5rem}
.data{list-style:none;padding:0;margin:0 0 1rem}
.data>li{padding:.875rem 1rem;margin:0 0 .625rem;border-radius:10px;background:var(--wash)}
.data dl,dd dl{margin:0}
dd dl{gap:0 1rem}
.tag{font-size:.875rem;white-space:nowrap}
.tag::before{content:"";display:inline-block;width:.5rem;height:.5rem;border-radius:50%;background:var(--muted);margin-right:.4375rem;vertical-align:.0625rem}
.tag.ok::before{background:var(--accent)}
.tag.warn::before{background:var(--warn)}
.tag.bad::before{background:var(--danger)}
.changes{list-style:none;padding:0;margin:0}
.changes>li{padding:1rem 0;border-top:1px solid var(--line);margin:0}
.changes>li:first-child{border-top:0;padding-top:0}
.changes>li:last-child{padding-bottom:0}
.changes h3{font-size:1rem;margin:0 0 .5rem;display:flex;flex-wrap:wrap;gap:.25rem 1rem;align-items:baseline}
.changes p{margin:0 0 .375rem}
.changes h3 .tag{font-weight:400}
.versions{gap:.25rem 1rem;margin:0 0 1rem;padding:.75rem 1rem;border-radius:10px;background:var(--wash)}
.changes dl:last-child{margin-bottom:0}
details{max-width:100%}
.more{border-top:1px solid var(--line);padding:.375rem 0}
.more+.actions,.more+.help,.more+fieldset{margin-top:1.25rem}
.more summary{padding:.625rem 0}
.more[open] summary{margin-bottom:.5rem}
summary{cursor:pointer;padding:.375rem 0;color:var(--muted)}
.rows details[open]{flex-basis:100%}
details form{margin-top:.5rem}
.diff{white-space:pre-wrap;overflow-wrap:anywhere;max-height:none}
.diff>*{display:block;padding-left:1.25rem;text-indent:-1.25rem;text-decoration:none}
.diff ins,.change ins{color:var(--accent)}
.diff del,.change del{color:var(--danger)}
.change{display:flex;flex-wrap:wrap;gap:0 .5rem}
.change ins{text-decoration:none}
.change del+ins::before{content:"\\2192\\20"}
.reach{display:flex;gap:.75rem;margin-bottom:1.25rem}
.reach>form{flex:2 1 10rem;margin:0}
.reach>form button{width:100%}
.reach>button{flex:1 1 6rem}
.pages{display:flex;flex-wrap:wrap;gap:1rem;justify-content:space-between}
`;

const FORMS = `
.actions{display:flex;flex-wrap:wrap;gap:.75rem;margin-top:1.5rem;align-items:center}
button,.button{font:inherit;font-weight:600;line-height:1.55;display:inline-block;max-width:100%;min-height:2.75rem;padding:.5rem 1.25rem;overflow-wrap:anywhere;border-radius:10px;border:1px solid var(--field);background:transparent;color:var(--text);cursor:pointer;text-decoration:none;text-align:center}
button:hover,.button:hover{border-color:var(--text)}
.primary{background:var(--accent);border-color:var(--accent);color:var(--on-accent)}
.primary:hover{filter:brightness(1.07);border-color:var(--accent)}
.actions>form{margin:0}
.actions>.primary{flex:1 1 12rem}
.actions>.secondary{flex:1 1 8rem}
.danger{color:var(--danger);border-color:currentColor}
.quiet{min-height:2.25rem;padding:.25rem .875rem;font-weight:500;font-size:.9375rem;border-color:var(--line)}
.field{margin-bottom:1.25rem}
label,legend{display:block;font-weight:600;padding:0}
.help,.problem{margin:.125rem 0 .375rem;font-size:.9375rem}
.help,.optional{color:var(--muted);font-weight:400}
.problem{color:var(--danger)}
.problem:empty{margin:0}
.actions+.problem:not(:empty){margin-top:.75rem}
input,select,textarea{font:inherit;color:inherit}
input:not([type=radio],[type=checkbox],[type=hidden]),select,textarea{display:block;width:100%;min-width:0;min-height:2.75rem;margin-top:.25rem;padding:.5rem .75rem;border:1px solid var(--field);border-radius:8px;background:var(--card)}
[aria-invalid=true]{border-color:var(--danger)!important}
fieldset{border:0;padding:0;margin:0 0 1.25rem;min-width:0}
.choice{display:flex;gap:.625rem;margin-top:.5rem}
.choice input{flex:none;width:1.125rem;height:1.125rem;margin:.1875rem 0;accent-color:var(--accent)}
.choice label{font-weight:400}
.some{display:none;margin-left:1.75rem}
.limit:has([type=radio][value=some]:checked)>.some{display:block}
.filters{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr));gap:.75rem 1rem}
.filters .actions{grid-column:1/-1;margin-top:.25rem}
.filters label{font-size:.875rem;font-weight:500}
.inline{display:flex;flex-wrap:wrap;gap:.5rem;align-items:end}
.find{margin-bottom:1.25rem}
.about:has(+p){margin-bottom:.375rem}
.inline>div{flex:1 1 12rem}
`;

/** Folded on a phone alone, where the browser can unfold without the attribute. */
const WIDE = `
@supports selector(::details-content){@media (min-width:40rem){.fold::details-content{content-visibility:visible;block-size:auto}.fold>summary{display:none}}}
`;

const NARROW = `
@media (max-width:30rem){header,main,footer{padding-left:1rem;padding-right:1rem}.card,.wide .card{padding:1.25rem}.code strong{font-size:1.875rem}dl{grid-template-columns:fit-content(40%) 1fr;column-gap:1rem}.code p{font-size:.875rem}h1{font-size:1.4375rem}header{padding-top:.5rem;padding-bottom:.75rem}header nav{order:3;flex-basis:100%;margin:0 -.375rem}header nav ul{gap:0}header nav a{padding:.375rem .3125rem;font-size:.875rem}.data dl{grid-template-columns:1fr;row-gap:0}.data dd{margin-bottom:.375rem}.data.objects dd{margin:0}.objects>li{padding:.5rem .75rem;margin-bottom:.375rem}.who,.follows,.changed{font-size:.9375rem}.objects{font-size:.875rem}body:has(.sentence) nav{min-width:0}body:has(.sentence) nav ul{flex-wrap:nowrap;overflow-x:auto;scrollbar-width:none}.who{margin-bottom:.625rem}.follows{padding-left:1.125rem;margin-bottom:.75rem}.follows li{margin-bottom:.125rem}.sentence{font-size:1.125rem;margin:.5rem 0 .75rem}.sentence+.lead{margin-bottom:.75rem}.sentence~.card{padding:1rem}.diff{padding:.5rem .75rem}.reach{position:sticky;bottom:0;z-index:1;margin:0 -1rem 1.25rem;padding:.75rem 1rem;background:var(--bg);border-top:1px solid var(--line)}}
`;

/** The style sheet of every page; no page loads anything else. */
export const STYLE = [COLOURS, FRAME, TEXT, BLOCKS, FORMS, WIDE, NARROW].join("").trim();

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
