// @ts-check
// Writes proto/gen/ from the .proto files: by buf and by a plugin that are installed here, without a network. With --check
// nothing is written, and generated code that is out of date, missing or left over is a failure.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { packageBin, root } from './package.mjs';

const proto = join(root, 'proto');
const check = process.argv.includes('--check');
const scratch = mkdtempSync(join(tmpdir(), 'generate-'));
try {
  const { status } = spawnSync(process.execPath, [packageBin('@bufbuild/buf', 'buf'), 'generate', '-o', scratch], {
    cwd: proto,
    stdio: 'inherit',
    env: { ...process.env, PATH: `${join(root, 'node_modules', '.bin')}${delimiter}${process.env.PATH}` },
  });
  const fresh = files(join(scratch, 'gen'));
  if (status !== 0 || fresh.size === 0) {
    console.log('nothing was generated');
    process.exitCode = 1;
  } else if (check) {
    compare(fresh, files(join(proto, 'gen')));
  } else {
    write(fresh, files(join(proto, 'gen')));
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/**
 * @param {Map<string, string>} fresh
 * @param {Map<string, string>} committed
 */
function compare(fresh, committed) {
  const stale = [...fresh].filter(([name, text]) => committed.get(name) !== text).map(([name]) => name);
  const leftOver = [...committed.keys()].filter((name) => !fresh.has(name));
  for (const name of stale) console.log(`proto/gen/${name} is ${committed.has(name) ? 'out of date' : 'missing'}`);
  for (const name of leftOver) console.log(`proto/gen/${name} comes from no .proto file`);
  if (stale.length + leftOver.length === 0) {
    console.log(`${fresh.size} generated files are up to date`);
  } else {
    console.log('If a change is meant: npm run generate, and commit proto/gen/.');
    process.exitCode = 1;
  }
}

/**
 * Touches only what has changed, so that whoever reads proto/gen/ meanwhile never finds it empty.
 *
 * @param {Map<string, string>} fresh
 * @param {Map<string, string>} committed
 */
function write(fresh, committed) {
  for (const name of committed.keys()) if (!fresh.has(name)) rmSync(join(proto, 'gen', name));
  for (const [name, text] of fresh) {
    if (committed.get(name) === text) continue;
    const path = join(proto, 'gen', name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  console.log(`${fresh.size} files generated`);
}

/**
 * The files below a folder with their texts, by their paths relative to it.
 *
 * @param {string} folder
 * @returns {Map<string, string>}
 */
function files(folder) {
  if (!existsSync(folder)) return new Map();
  return new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        return [relative(folder, path).replaceAll('\\', '/'), readFileSync(path, 'utf8')];
      }),
  );
}
