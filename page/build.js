// Builds the page into the server's source, from the sources here and the packages that package-lock.json names. The result is committed:
// a build of the server needs no npm. `--check` builds it elsewhere and fails if the committed files differ.
import { build } from "esbuild";
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const committed = new URL("../crates/server/src/http/page/", import.meta.url).pathname;
const check = process.argv.includes("--check");
const into = check ? await mkdtemp(join(tmpdir(), "paceline-page-")) : committed;

// The licences of what is bundled go with it.
const licences = await Promise.all(
  ["preact", "uplot"].map(async (name) => `${name}:\n${(await readFile(`node_modules/${name}/LICENSE`, "utf8")).trim()}`),
);

await build({
  banner: { js: `/*!\n${licences.join("\n\n")}\n*/` },
  entryPoints: { page: "src/main.jsx" },
  outdir: into,
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "inline",
  logLevel: "warning",
});

if (check) {
  for (const name of ["page.js", "page.css"]) {
    const [built, kept] = await Promise.all([readFile(join(into, name)), readFile(join(committed, name))]);
    if (!built.equals(kept)) {
      console.error(`${name} is not what its sources give: npm run build`);
      process.exitCode = 1;
    }
  }
}
