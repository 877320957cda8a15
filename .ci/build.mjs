// @ts-check
// Compiles machines/, proto/ and src/ to dist/, and beside them the inspector's page, which has a browser's types. The compiler writes beside dist/ and the result is moved into place when it is
// whole, so a build that fails, or another process that reads dist/ meanwhile, never meets half of one.
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { manifest, packageBin, root } from './package.mjs';

const scratch = join(root, '.scratch');
const dist = join(root, 'dist');
mkdirSync(scratch, { recursive: true });
const fresh = mkdtempSync(join(scratch, 'dist-'));
const old = `${fresh}-old`;

const compiler = packageBin('typescript', 'tsc');
const project = ['-p', join(root, 'tsconfig.json'), '--noEmitOnError', '--outDir', fresh];
const page = join('src', 'inspect', 'page');
const pageProject = ['-p', join(root, page, 'tsconfig.json'), '--noEmitOnError', '--outDir', fresh];
let status = 0;
for (const options of [project, pageProject]) {
  if (status === 0)
    status = spawnSync(process.execPath, [compiler, ...options], { cwd: root, stdio: 'inherit' }).status ?? 1;
}
if (status === 0) {
  for (const name of readdirSync(join(root, page))) {
    if (/\.(html|css|svg)$/.test(name)) copyFileSync(join(root, page, name), join(fresh, page, name));
  }
  for (const path of Object.values(manifest.bin)) chmodSync(join(fresh, path.replace(/^(\.\/)?dist\//, '')), 0o755);
  if (existsSync(dist)) renameSync(dist, old);
  renameSync(fresh, dist);
}
rmSync(fresh, { recursive: true, force: true });
rmSync(old, { recursive: true, force: true });
process.exit(status);
