/** Who may look: S1 of `inspector-server.ts`, W1–W3 of `gate.ts`. Real sockets on loopback. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isCommitpointError } from '../../../src/contract/errors.js';
import { Gate } from '../../../src/inspect/server/gate.js';
import { createInspectorServer, type InspectorServer } from '../../../src/inspect/server/index.js';
import { ask, PageReader } from './page-reader.js';

let folder: string;
let server: InspectorServer;
let search: string;
let host: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inspector-page-'));
  await mkdir(join(folder, 'page', 'model'), { recursive: true });
  await writeFile(join(folder, 'secret.js'), 'secret');
  await writeFile(join(folder, 'page', 'index.html'), '<!doctype html>');
  await writeFile(join(folder, 'page', 'main.js'), 'export {};');
  await writeFile(join(folder, 'page', 'model', 'run.js'), 'export {};');
  await writeFile(join(folder, 'page', 'main.ts'), 'not served');
  server = await createInspectorServer({ page: pathToFileURL(join(folder, 'page/')), maxClients: 2 });
  ({ search, host } = new URL(server.url));
});

afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

test('with the address that it gave, the page and its files come, each under a policy that lets nothing else in', async () => {
  for (const [path, type] of [
    [`/${search}`, 'text/html; charset=utf-8'],
    ['/main.js', 'text/javascript; charset=utf-8'],
    ['/model/run.js', 'text/javascript; charset=utf-8'],
  ] as const) {
    const { status, headers } = await ask(server.url, path);
    expect([path, status, headers['content-type']]).toEqual([path, 200, type]);
    expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
  }
  expect((await ask(server.url, `/${search}`, { method: 'HEAD' })).body).toBe('');
});

describe('without the token nothing of a run is told', () => {
  const wrong = ['', '?token=', '?token=0', `?token=${'0'.repeat(32)}`, '?other=1', '?token=%00'];
  test.each(wrong)('%j', async (query) => {
    for (const path of ['/', '/index.html', '/events']) {
      const { status, body, headers } = await ask(server.url, path + query);
      expect([path, status]).toEqual([path, 403]);
      expect(body).not.toContain('opening');
      expect(headers['content-security-policy']).toContain("default-src 'none'");
    }
  });

  test('two servers have two tokens, of 128 bits', async () => {
    const other = await createInspectorServer();
    expect(new URL(other.url).search).not.toBe(search);
    expect(search).toMatch(/^\?token=[0-9a-f]{32}$/);
    await other.close();
  });
});

test.each([
  ['another host (a name that leads to 127.0.0.1)', { host: 'rebound.example' }],
  ['this name at another port', { host: '127.0.0.1:1' }],
  ['a page of another site', { origin: 'http://evil.example' }],
  ['a page without an origin of its own', { origin: 'null' }],
  ['a page of another port', { origin: 'http://127.0.0.1:1' }],
  ['a request that the browser says is from elsewhere', { 'sec-fetch-site': 'cross-site' }],
])('%s is refused, with the token too', async (_, headers) => {
  for (const path of [`/${search}`, `/events${search}`, '/main.js']) {
    expect((await ask(server.url, path, { headers: headers as unknown as Record<string, string> })).status).toBe(403);
  }
});

test('at the port of its protocol a browser names the host alone', () => {
  const isOwn = (headers: Record<string, string>, port: number) =>
    new Gate(port, 'token').isOwn({ headers } as unknown as IncomingMessage);
  expect(isOwn({ host: '127.0.0.1', origin: 'http://127.0.0.1' }, 80)).toBe(true);
  expect(isOwn({ host: '127.0.0.1' }, 8080)).toBe(false);
  expect(isOwn({ host: 'rebound.example' }, 80)).toBe(false);
});

test('its own page is let in', async () => {
  const headers = { origin: `http://${host}`, 'sec-fetch-site': 'same-origin' };
  expect((await ask(server.url, '/main.js', { headers })).status).toBe(200);
  const { port } = new URL(server.url);
  const named = { host: `localhost:${port}`, origin: `http://localhost:${port}` };
  expect((await ask(server.url, `/${search}`, { headers: named })).status).toBe(200);
});

test.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])('%s is refused', async (method) => {
  const { status, headers } = await ask(server.url, `/events${search}`, { method });
  expect([status, headers.allow]).toEqual([405, 'GET, HEAD']);
});

test.each([
  '/../secret.js',
  '/%2e%2e/secret.js',
  '/..%2fsecret.js',
  '/model/../../secret.js',
  '//secret.js',
  '/main.ts',
  '/model/',
  '/etc/passwd',
  '/C:/x.js',
  '/main.js%00',
  '/__proto__',
])('%s is no file of the page', async (path) => {
  const { status, body } = await ask(server.url, path);
  expect([status, body.includes('secret\n')]).toEqual([404, false]);
});

test('it listens on 127.0.0.1 alone', async () => {
  const others = Object.values(networkInterfaces()).flatMap((addresses) =>
    (addresses ?? []).filter(({ internal, family }) => !internal && family === 'IPv4').map(({ address }) => address),
  );
  const { port } = new URL(server.url);
  for (const address of others) {
    const refused = await new Promise<boolean>((resolve) => {
      const socket = connect({ host: address, port: Number(port) }, () => {
        socket.destroy();
        resolve(false);
      });
      socket.on('error', () => resolve(true));
    });
    expect([address, refused]).toEqual([address, true]);
  }
});

test('so many pages and no more listen; the next one has to wait for a place', async () => {
  const readers = [new PageReader(server.url), new PageReader(server.url)];
  for (const reader of readers) await reader.until((frames) => frames.length > 0);
  expect((await ask(server.url, `/events${search}`)).status).toBe(503);
  readers[0]?.close();
  let later = new PageReader(server.url);
  await later.until((frames) => frames.length > 0);
  while (later.status === 503) {
    later = new PageReader(server.url);
    await later.until((frames) => frames.length > 0);
  }
  expect(later.frames[0]).toMatchObject({ type: 'opening', source: 'process', isLive: true });
  readers[1]?.close();
  later.close();
});

test.each([
  { port: -1 },
  { port: 70_000 },
  { token: 'short' },
  { token: 'with spaces in it, and long enough' },
  { maxClients: 0 },
  { maxSteps: 1 },
  { maxBytes: Number.NaN },
])('an option that is none rejects: %j', async (options) => {
  const failed = await createInspectorServer(options).catch((error: unknown) => error);
  expect(isCommitpointError(failed) && failed.code).toBe('invalid_input');
});

test('a port that is taken rejects, and says so', async () => {
  const { port } = new URL(server.url);
  await expect(createInspectorServer({ port: Number(port) })).rejects.toThrow(/port that can be had/);
});
