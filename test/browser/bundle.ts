/** Pages and workers, bundled as a host would. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Rolldown } from 'vite';

const pages = fileURLToPath(new URL('page', import.meta.url));

/** Bundles these scripts of `page/` into `outDir`, each under its own name, and gives what was made. */
export async function bundle(
  outDir: string,
  names: readonly string[],
): Promise<{ chunks: Rolldown.OutputChunk[]; warnings: string[] }> {
  const warnings: string[] = [];
  const result = await build({
    root: pages,
    configFile: false,
    logLevel: 'silent',
    build: {
      outDir,
      target: 'es2022',
      modulePreload: false,
      rolldownOptions: {
        input: Object.fromEntries(names.map((name) => [name, join(pages, `${name}.ts`)])),
        output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
        onwarn: (warning) => warnings.push(warning.message),
      },
    },
  });
  const { output } = result as Rolldown.RolldownOutput;
  return { chunks: output.filter((part): part is Rolldown.OutputChunk => part.type === 'chunk'), warnings };
}

/** What a bundle takes from outside of itself, and what of Node is in it: nothing, if it is to run in a browser. */
export function foreign(chunks: readonly Rolldown.OutputChunk[]): string[] {
  const own = new Set(chunks.map(({ fileName }) => fileName));
  return chunks.flatMap((chunk) => [
    ...[...chunk.imports, ...chunk.dynamicImports].filter((path) => !own.has(path)),
    ...(chunk.code.match(/["'`]node:\w*/g) ?? []),
    ...Object.keys(chunk.modules).filter((id) => /browser-external|node_modules\/ws\//.test(id)),
  ]);
}
