// @ts-check
// Looks at the package as a stranger gets it: packs what dist/ holds now, then runs the check named on the command line.
//
//   publint   the manifest, against what is really in the tarball
//   attw      the types, as each way of resolving modules sees them
//   smoke     installs the tarball into an empty project: imports every sub-path, compiles and runs a host, runs the command
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { entryPoints, installedVersion, manifest, packageBin, root } from './package.mjs';

class CheckFailed extends Error {}

/** @type {Record<string, (tarball: string) => void>} */
const checks = {
  publint: (tarball) => console.log(node(root, packageBin('publint', 'publint'), tarball, '--strict')),
  attw: (tarball) =>
    console.log(
      node(root, packageBin('@arethetypeswrong/cli', 'attw'), tarball, '--profile=esm-only', '--no-definitely-typed'),
    ),
  smoke: installAndUse,
};

const scratch = mkdtempSync(join(tmpdir(), 'tarball-'));
try {
  const check = checks[process.argv[2] ?? ''];
  if (!check) throw new CheckFailed(`expected one of ${Object.keys(checks).join(', ')}, found ${process.argv[2]}`);
  check(pack());
} catch (error) {
  if (!(error instanceof CheckFailed)) throw error;
  console.log(error.message);
  process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** Packs without building again, makes sure that what users need is in, and what they do not is out, and gives the tarball's path. */
function pack() {
  const [{ filename, files }] = JSON.parse(
    npm(root, 'pack', '--ignore-scripts', '--json', '--pack-destination', scratch),
  );
  const names = files.map((/** @type {{ path: string }} */ { path }) => path);
  const code = [...entryPoints().flatMap((entry) => [entry.types, entry.code]), ...Object.values(manifest.bin)];
  const needed = ['README.md', 'LICENSE', 'CHANGELOG.md', ...code.map((path) => path.replace(/^\.\//, ''))];
  const missing = needed.filter((name) => !names.includes(name));
  if (missing.length > 0) throw new CheckFailed(`not in the tarball: ${missing.join(', ')}`);
  const stray = names.filter(
    (/** @type {string} */ name) => !/^(dist\/(src|machines|proto)|docs)\/|^[^/]+\.(md|json)$|^LICENSE$/.test(name),
  );
  if (stray.length > 0) throw new CheckFailed(`not for users, and in the tarball all the same: ${stray.join(', ')}`);
  return join(scratch, filename);
}

/** @param {string} tarball */
function installAndUse(tarball) {
  const consumer = join(scratch, 'consumer');
  mkdirSync(consumer);
  writeFileSync(join(consumer, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }));
  const peers = Object.keys(manifest.peerDependencies).map((peer) => `${peer}@${installedVersion(peer)}`);
  npm(consumer, 'install', '--prefer-offline', '--no-package-lock', tarball, ...peers);

  const specifiers = entryPoints().map(({ specifier }) => specifier);
  writeFileSync(
    join(consumer, 'imports.js'),
    `for (const name of ${JSON.stringify(specifiers)}) console.log(name, Object.keys(await import(name)).length);`,
  );
  const imported = node(consumer, '--throw-deprecation', 'imports.js');
  const empty = specifiers.filter((name) => new RegExp(`^${name} 0$`, 'm').test(imported));
  if (empty.length > 0) throw new CheckFailed(`nothing is exported at run time by ${empty.join(', ')}`);

  const host = readFileSync(join(root, 'test', 'consumer', 'host.ts'), 'utf8');
  const uses = specifiers.map(
    (name, i) => `import * as entry${i} from '${name}';\nexport const use${i}: object = entry${i};\n`,
  );
  writeFileSync(join(consumer, 'host.ts'), host);
  writeFileSync(join(consumer, 'every-entry.ts'), uses.join(''));
  compile(consumer, 'esnext', 'bundler');
  compile(consumer, 'nodenext', 'nodenext');
  node(consumer, '--throw-deprecation', 'host.js');

  for (const command of Object.keys(manifest.bin)) {
    const help = run(consumer, join(consumer, 'node_modules', '.bin', command), '--help');
    if (!help.includes('Usage')) throw new CheckFailed(`${command} --help gave no usage but ${JSON.stringify(help)}`);
  }
  console.log(
    `${imported}${specifiers.length} sub-paths imported and type-checked; a host and ${Object.keys(manifest.bin)} run`,
  );
}

/**
 * Compiles the consumer as strictly as a host may, our declarations included, and with no types of Node at hand. What is wrong
 * in somebody else's declarations is let pass: xstate's do not hold under exactOptionalPropertyTypes.
 *
 * @param {string} consumer
 * @param {string} module
 * @param {string} moduleResolution
 */
function compile(consumer, module, moduleResolution) {
  const compilerOptions = {
    module,
    moduleResolution,
    target: 'es2022',
    lib: ['es2023', 'esnext.disposable', 'dom', 'dom.iterable'],
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
  };
  writeFileSync(
    join(consumer, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['host.ts', 'every-entry.ts'] }),
  );
  const { stdout } = spawnSync(process.execPath, [packageBin('typescript', 'tsc'), '--pretty', 'false'], {
    cwd: consumer,
    encoding: 'utf8',
  });
  const errors = stdout.split('\n').filter((line) => line.includes('error TS'));
  const ours = errors.filter(
    (line) => !line.startsWith('node_modules/') || line.startsWith(`node_modules/${manifest.name}/`),
  );
  if (ours.length > 0) throw new CheckFailed(`with moduleResolution ${moduleResolution}:\n${ours.join('\n')}`);
}

/**
 * @param {string} cwd
 * @param {string[]} args
 */
function npm(cwd, ...args) {
  return run(cwd, 'npm', ...args);
}

/**
 * @param {string} cwd
 * @param {string[]} args
 */
function node(cwd, ...args) {
  return run(cwd, process.execPath, ...args);
}

/**
 * Runs a command to its end and gives what it printed.
 *
 * @param {string} cwd
 * @param {string} command
 * @param {string[]} args
 */
function run(cwd, command, ...args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (error) throw error;
  if (status !== 0) throw new CheckFailed(`${[command, ...args].join(' ')} ended with ${status}\n${stdout}${stderr}`);
  return stdout;
}
