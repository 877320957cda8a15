/** A folder of files, served to this machine alone, under a policy that lets no code be made from text. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

export interface Site {
  readonly url: string;
  close(): Promise<void>;
}

const policy = "default-src 'none'; script-src 'self'; worker-src 'self'; base-uri 'none'";
const html =
  '<!doctype html><meta charset="utf-8"><title>A session</title><script type="module" src="/page.js"></script>';

/** Serves the scripts of `folder`, and one page that loads `page.js`. */
export async function serve(folder: string): Promise<Site> {
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    response.setHeader('content-security-policy', policy);
    if (path === '/') {
      response.setHeader('content-type', 'text/html; charset=utf-8').end(html);
      return;
    }
    try {
      const file = await readFile(join(folder, path));
      response.setHeader('content-type', 'text/javascript; charset=utf-8').end(file);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
