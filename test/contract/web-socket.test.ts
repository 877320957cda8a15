import { describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import {
  platformWebSocket,
  Socket,
  type SocketClose,
  type SocketEvent,
  type WebSocketFactory,
  type WebSocketLike,
} from '../../src/contract/web-socket.js';

// S1–S4, with sockets that behave as no socket should.

const open = 1;

/** A socket in the hand. */
class Odd implements WebSocketLike {
  binaryType = 'blob';
  readyState = 0;
  bufferedAmount = 0;
  readonly sent: string[] = [];
  readonly closes: unknown[][] = [];
  readonly #listeners = new Map<string, ((event: SocketEvent) => void)[]>();

  send(data: string): void {
    this.sent.push(data);
  }

  close(...args: unknown[]): void {
    this.closes.push(args);
  }

  addEventListener(type: string, listener: (event: SocketEvent) => void): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener]);
  }

  fire(type: string, fields: Partial<SocketEvent> = {}): void {
    for (const listener of this.#listeners.get(type) ?? []) listener({ type, ...fields });
  }
}

function watched(make: WebSocketFactory, maxFrameBytes = 1000) {
  const log: (string | SocketClose)[] = [];
  const socket = new Socket(
    { url: 'ws://x', protocols: ['a'], headers: {}, maxFrameBytes, make },
    {
      opened: () => log.push('opened'),
      frame: (text) => log.push(`frame ${text}`),
      closed: (close) => log.push(close),
    },
  );
  return { socket, log };
}

async function ticks(): Promise<void> {
  for (let n = 0; n < 10; n++) await undefined;
}

describe('a socket', () => {
  it('tells of its end once, and of nothing after it', async () => {
    const odd = new Odd();
    const { socket, log } = watched(() => odd);
    expect(log).toEqual([]);
    await ticks();
    odd.readyState = open;
    odd.fire('open');
    odd.fire('open');
    odd.fire('message', { data: 'one' });
    odd.fire('close', { code: 4001, reason: 'enough' });
    odd.fire('close', { code: 1000 });
    odd.fire('message', { data: 'two' });
    odd.fire('error', { message: 'late' });
    socket.close();
    socket.destroy();
    expect(log).toEqual(['opened', 'frame one', { code: 4001, reason: 'enough', wasOpen: true }]);
    expect(socket.isOpen).toBe(false);
    expect(socket.send('x')).toBe(false);
  });

  it.each<[string, WebSocketFactory]>([
    [
      'throws',
      () => {
        throw new TypeError('no socket');
      },
    ],
    ['rejects', () => Promise.reject(new TypeError('no socket'))],
    ['gives no socket', () => ({}) as WebSocketLike],
    ['gives one that is closed', () => Object.assign(new Odd(), { readyState: 3 })],
  ])('whose factory %s ends, and throws nothing', async (_, make) => {
    const { log } = watched(make);
    await ticks();
    expect(log).toEqual([{ code: 1006, reason: '', wasOpen: false, failure: expect.any(String) }]);
  });

  it.each(['close', 'destroy'] as const)('that the factory gives after %s is closed, and never used', async (how) => {
    const odd = new Odd();
    let give: ((socket: WebSocketLike) => void) | undefined;
    const { socket, log } = watched(
      () =>
        new Promise((resolve) => {
          give = resolve;
        }),
    );
    await ticks();
    socket[how]();
    give?.(odd);
    await ticks();
    odd.readyState = open;
    odd.fire('open');
    odd.fire('close', { code: 1006 });
    expect(odd.closes).toHaveLength(1);
    expect(log.filter((entry) => typeof entry === 'object')).toHaveLength(1);
  });

  it('that is given up before the factory is asked is never made', async () => {
    let asked = 0;
    const { socket, log } = watched(() => {
      asked++;
      return new Odd();
    });
    socket.destroy('given up');
    await ticks();
    expect(asked).toBe(0);
    expect(log).toEqual([{ code: 1006, reason: '', wasOpen: false, failure: 'given up' }]);
  });

  it('reads text, and binary messages as UTF-8', async () => {
    const odd = new Odd();
    const { log } = watched(() => odd);
    await ticks();
    const bytes = new TextEncoder().encode('"é"');
    odd.fire('message', { data: bytes.buffer });
    odd.fire('message', { data: new Uint8Array([120, ...bytes, 120]).subarray(1, 1 + bytes.length) });
    expect(log).toEqual(['frame "é"', 'frame "é"']);
    expect(odd.binaryType).toBe('arraybuffer');
  });

  it.each<[string, unknown, number]>([
    ['text', 'x'.repeat(1001), 1009],
    ['bytes', new ArrayBuffer(1001), 1009],
    ['something else', { size: 3 }, 1003],
    ['nothing', undefined, 1003],
  ])('ends at a message that is too long or none: %s', async (_, data, code) => {
    const odd = new Odd();
    const { log } = watched(() => odd);
    await ticks();
    odd.fire('message', { data });
    odd.fire('message', { data: 'more' });
    expect(log).toEqual([{ code, reason: expect.any(String), wasOpen: false }]);
    // A browser's socket takes no code of the protocol's own.
    expect(odd.closes).toEqual([[]]);
  });

  it('whose send and close throw does no harm', async () => {
    const odd = new Odd();
    odd.send = () => {
      throw new TypeError('cannot send');
    };
    odd.close = () => {
      throw new TypeError('cannot close');
    };
    const { socket, log } = watched(() => odd);
    await ticks();
    odd.readyState = open;
    odd.fire('open');
    expect(socket.send('x')).toBe(false);
    socket.close();
    socket.destroy();
    expect(log).toEqual(['opened', { code: 1006, reason: '', wasOpen: true, failure: 'cannot send' }]);
  });
});

describe('the platform', () => {
  it('has a socket: its own, without headers, or that of `ws`, with them', async () => {
    const { takesHeaders } = await platformWebSocket();
    expect(takesHeaders).toBe(typeof (globalThis as { WebSocket?: unknown }).WebSocket === 'undefined');
  });

  it('sockets of `ws` and of browsers are what the seam takes', () => {
    const fromWs = (socket: WebSocket): WebSocketLike => socket;
    expect(typeof fromWs).toBe('function');
  });
});
