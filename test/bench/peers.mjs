import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** A folder that git ignores; peers are no dependency of the project. */
const prefix = new URL('../../.scratch/bench-peers/', import.meta.url);

/** Pinned, so that a ratio means the same tomorrow. */
const peers = { '@openai/agents-realtime': '0.20.0', zod: '4.6.7' };

/**
 * Installs the peers where they are missing or of another version.
 * @throws {Error} when npm cannot; its own words stand above.
 */
export function installPeers() {
  const missing = Object.entries(peers).filter(([name, version]) => installedVersion(name) !== version);
  if (missing.length === 0) return;
  mkdirSync(prefix, { recursive: true });
  writeFileSync(new URL('package.json', prefix), '{ "private": true, "description": "peers of the benches" }\n');
  const { status } = spawnSync(
    'npm',
    [
      'install',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--save-exact',
      ...Object.entries(peers).map(([name, version]) => `${name}@${version}`),
    ],
    { cwd: fileURLToPath(prefix), stdio: ['ignore', 'ignore', 'inherit'] },
  );
  if (status !== 0) throw new Error('the peers could not be installed');
}

/** @param {string} name */
function installedVersion(name) {
  const manifest = new URL(`node_modules/${name}/package.json`, prefix);
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version : undefined;
}

/** The module of `@openai/agents-realtime`, as installed by {@link installPeers}. */
export function importOpenaiAgents() {
  return import(
    pathToFileURL(fileURLToPath(new URL('node_modules/@openai/agents-realtime/dist/index.mjs', prefix))).href
  );
}
