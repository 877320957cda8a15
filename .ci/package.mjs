// @ts-check
// What the checks know about this package: where it is, what it exports, and where its tools are.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '..');

/**
 * @type {{
 *   name: string,
 *   version: string,
 *   bin: Record<string, string>,
 *   exports: Record<string, string | { types: string, default: string }>,
 *   peerDependencies: Record<string, string>,
 * }}
 */
export const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const require = createRequire(import.meta.url);

/**
 * Every sub-path that holds code: its specifier, a short name, its compiled files, and the source that they come from.
 *
 * @returns {{ specifier: string, name: string, types: string, code: string, source: string }[]} paths relative to the root
 */
export function entryPoints() {
  return Object.entries(manifest.exports).flatMap(([subpath, target]) => {
    if (typeof target === 'string') return [];
    return {
      specifier: subpath.replace(/^\./, manifest.name),
      name: subpath === '.' ? 'index' : subpath.slice(2).replaceAll('/', '.'),
      types: target.types,
      code: target.default,
      source: target.types.replace(/^\.\/dist\//, '').replace(/\.d\.ts$/, '.ts'),
    };
  });
}

/**
 * The script behind a command of an installed package, to be run with `process.execPath`: no shell, the same on every system.
 *
 * @param {string} name the package
 * @param {string} command the name of the command
 */
export function packageBin(name, command) {
  const { bin } = installed(name);
  return join(packageFolder(name), typeof bin === 'string' ? bin : bin[command]);
}

/**
 * The version of a package that is installed here.
 *
 * @param {string} name
 * @returns {string}
 */
export function installedVersion(name) {
  return installed(name).version;
}

/** @param {string} name */
function installed(name) {
  return JSON.parse(readFileSync(join(packageFolder(name), 'package.json'), 'utf8'));
}

/** @param {string} name */
function packageFolder(name) {
  const folders = (require.resolve.paths(name) ?? []).map((modules) => join(modules, name));
  const folder = folders.find((path) => existsSync(join(path, 'package.json')));
  if (!folder) throw new Error(`package ${name} is not installed: run npm ci`);
  return folder;
}
