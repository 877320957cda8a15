/** A page, as far as the server can tell: reads server-sent events from a real socket. */
import { type ClientRequest, get, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import type { Frame } from '../../../src/inspect/view/frames.js';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** One request; `path` goes out as it is written. */
export function ask(
  server: string,
  path: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const { hostname, port } = new URL(server);
  return new Promise((resolve, reject) => {
    const asked = request({ hostname, port, path, method, headers, agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        body += piece;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    });
    asked.on('error', reject);
    asked.end();
  });
}

/** A page that listens. */
export class PageReader {
  readonly frames: Frame[] = [];
  lastId: string | undefined;
  status = 0;
  /** Whether the server has ended it, or broken it off. */
  isOver = false;
  readonly #request: ClientRequest;
  #response: IncomingMessage | undefined;
  #text = '';
  #changed = () => {};

  constructor(server: string, lastId?: string) {
    const { hostname, port, search } = new URL(server);
    const headers = lastId === undefined ? {} : { 'last-event-id': lastId };
    this.#request = get({ hostname, port, path: `/events${search}`, headers, agent: false }, (response) => {
      this.#response = response;
      this.status = response.statusCode ?? 0;
      response.setEncoding('utf8');
      response.on('data', (piece: string) => this.#take(piece));
      response.on('close', () => this.#end());
      response.on('error', () => {});
      this.#changed();
    });
    this.#request.on('error', () => this.#end());
  }

  /** Resolves when this holds, or nothing comes any more. */
  async until(holds: (frames: readonly Frame[]) => boolean): Promise<void> {
    while (!holds(this.frames) && !this.isOver) {
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }

  /** Reads no more, and keeps the connection. */
  pause(): void {
    this.#response?.pause();
  }

  resume(): void {
    this.#response?.resume();
  }

  close(): void {
    this.#request.destroy();
  }

  #take(piece: string): void {
    this.#text += piece;
    for (let end = this.#text.indexOf('\n\n'); end >= 0; end = this.#text.indexOf('\n\n')) {
      const lines = this.#text.slice(0, end).split('\n');
      this.#text = this.#text.slice(end + 2);
      const id = lines.find((line) => line.startsWith('id: '));
      const data = lines.find((line) => line.startsWith('data: '));
      if (id !== undefined) this.lastId = id.slice(4);
      if (data !== undefined) this.frames.push(JSON.parse(data.slice(6)) as Frame);
    }
    this.#changed();
  }

  #end(): void {
    this.isOver = true;
    this.#changed();
  }
}
