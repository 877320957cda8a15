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

/** What a site is to serve. */
export interface SiteOptions {
  /** The script that the page loads, without `.js`. */
  readonly script: string;
  /** Where scripts may connect to, besides the site. Default: nowhere, and not to the site either. */
  readonly connects?: readonly string[];
  /** Answers to posts, by path: what a host does with the keys that it gives to no browser. */
  readonly posts?: Readonly<Record<string, () => Promise<string>>>;
}

/** Serves the scripts of `folder`, and one page that loads one of them. */
export async function serve(folder: string, { script, connects, posts = {} }: SiteOptions): Promise<Site> {
  const connectSrc = connects === undefined ? '' : `; connect-src 'self' ${connects.join(' ')}`;
  const html = `<!doctype html><meta charset="utf-8"><title>A session</title><script type="module" src="/${script}.js"></script>`;
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    response.setHeader('content-security-policy', policy + connectSrc);
    if (path === '/') {
      response.setHeader('content-type', 'text/html; charset=utf-8').end(html);
      return;
    }
    const post = request.method === 'POST' ? posts[path] : undefined;
    try {
      if (post !== undefined) {
        response.setHeader('content-type', 'text/plain').end(await post());
        return;
      }
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
