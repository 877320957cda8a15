/** The inspector's page, compiled and served to this machine alone, under the policy of its server; frames are sent by the test. */
import { spawnSync } from 'node:child_process';
import { copyFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Frame } from '../../src/inspect/view/frames.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = join('src', 'inspect', 'page');

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'";

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
};

export interface InspectorSite {
  readonly url: string;
  /** What the page asked for, besides files: the id of the last event that it had, for each connection. */
  readonly connections: readonly (string | undefined)[];
  /** Frames that whoever connects is sent; they are sent again from where somebody was. */
  send(...frames: readonly Frame[]): void;
  /** Begins with other frames. */
  tell(frames: readonly Frame[]): void;
  /** Breaks all connections; they may be made again. */
  interrupt(): void;
  /** From now on connections are refused, or not. */
  refuse(isRefusing: boolean): void;
  close(): Promise<void>;
}

/** Compiles the page as the build does, and serves it. */
export async function serveInspector(): Promise<InspectorSite> {
  const scratch = await mkdtemp(join(tmpdir(), 'inspector-page-'));
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { status, stdout } = spawnSync(
    process.execPath,
    [compiler, '-p', join(root, page, 'tsconfig.json'), '--outDir', scratch],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new TypeError(`the page does not compile: ${stdout}`);
  const folder = join(scratch, page);
  for (const name of await readdir(join(root, page))) {
    if (/\.(html|css|svg)$/.test(name)) await copyFile(join(root, page, name), join(folder, name));
  }

  let frames: Frame[] = [];
  let isRefusing = false;
  const listeners = new Set<ServerResponse>();
  const connections: (string | undefined)[] = [];
  const write = (response: ServerResponse, at: number) =>
    response.write(`id: ${at + 1}\ndata: ${JSON.stringify(frames[at])}\n\n`);

  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    response.setHeader('content-security-policy', policy);
    if (pathname === '/events') {
      if (isRefusing || searchParams.get('token') !== 'secret') {
        response.writeHead(403).end();
        return;
      }
      const last = request.headers['last-event-id'];
      connections.push(typeof last === 'string' ? last : undefined);
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
      response.write('retry: 50\n\n');
      for (let at = Number(last ?? 0); at < frames.length; at++) write(response, at);
      listeners.add(response);
      response.on('close', () => listeners.delete(response));
      return;
    }
    try {
      const name = pathname === '/' ? 'index.html' : pathname;
      const file = await readFile(join(folder, name));
      response.setHeader('content-type', types[extname(name)] ?? 'text/plain').end(file);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/?token=secret`,
    connections,
    send: (...more) => {
      for (const frame of more) {
        frames.push(frame);
        for (const response of listeners) write(response, frames.length - 1);
      }
    },
    tell: (told) => {
      frames = [...told];
    },
    interrupt: () => {
      for (const response of listeners) response.destroy();
    },
    refuse: (refuses) => {
      isRefusing = refuses;
    },
    close: async () => {
      for (const response of listeners) response.destroy();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await rm(scratch, { recursive: true, force: true });
    },
  };
}
