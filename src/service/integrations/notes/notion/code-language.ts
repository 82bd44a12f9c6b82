/** Languages that Notion knows by the name people write behind the fence, and others by theirs. */
const ALIASES: Readonly<Record<string, string>> = {
  js: "javascript",
  jsx: "javascript",
  ts: "typescript",
  tsx: "typescript",
  py: "python",
  rb: "ruby",
  rs: "rust",
  sh: "shell",
  zsh: "shell",
  console: "shell",
  yml: "yaml",
  md: "markdown",
  cs: "c#",
  csharp: "c#",
  cpp: "c++",
  golang: "go",
  kt: "kotlin",
  tex: "latex",
  text: "plain text",
  txt: "plain text",
};

const KNOWN: ReadonlySet<string> = new Set(
  [
    "bash,c,c#,c++,clojure,css,dart,diff,docker,elixir,elm,erlang,f#,fortran,go,graphql,groovy,haskell,html,java",
    "javascript,json,julia,kotlin,latex,less,lisp,lua,makefile,markdown,matlab,mermaid,nix,objective-c,ocaml,pascal,perl",
    "php,plain text,powershell,prolog,protobuf,python,r,ruby,rust,sass,scala,scheme,scss,shell,solidity,sql,swift,toml",
    "typescript,vb.net,verilog,vhdl,visual basic,webassembly,xml,yaml",
  ].flatMap((line) => line.split(",")),
);

/** Notion's name of a language; undefined for one that it does not know. Nothing is "plain text". */
export function findLanguage(written: string): string | undefined {
  const name = written.toLowerCase();
  const known = ALIASES[name] ?? (name === "" ? "plain text" : name);
  return KNOWN.has(known) ? known : undefined;
}
