/** The clients that the guide of the host shows, as they stand there, against the host. */
import { rmSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { Conversation } from '../../src/index.js';
import { type ScriptedProvider, scriptedProvider } from '../../src/testing/index.js';
import { quiet } from '../../src/testing/quiet.js';
import { snippetsOf, writeSnippets } from '../docs/snippets.js';
import { type Host, startHost } from './host.js';
import { ask, bytesOf } from './reader.js';

interface Clients {
  follow(url: string, show: (conversation: Conversation) => void): Promise<Conversation>;
  showFrom(source: EventTarget, show: (conversation: Conversation) => void): void;
}

/** As much of an EventSource as Node 20 lacks and the guide needs. */
class Source extends EventTarget {
  lastEventId = '';
  readonly closed: Promise<void>;
  #response: IncomingMessage | undefined;

  constructor(url: string) {
    super();
    this.closed = this.#run(url);
  }

  /** The connection breaks. */
  break(): void {
    this.#response?.destroy();
  }

  async #run(url: string): Promise<void> {
    for (;;) {
      const headers = this.lastEventId === '' ? {} : { 'last-event-id': this.lastEventId };
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        get(url, { agent: false, headers }, resolve).on('error', reject);
      });
      this.#response = response;
      if (response.resume().statusCode === 204) return;
      response.pause();
      let text = '';
      try {
        for await (const piece of response.setEncoding('latin1')) {
          const frames = (text + piece).split('\n\n');
          text = frames.pop() ?? '';
          for (const frame of frames) this.#dispatch(frame);
        }
      } catch {
        // it comes back
      }
    }
  }

  #dispatch(frame: string): void {
    const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(frame)?.[1];
    this.lastEventId = field('id') ?? this.lastEventId;
    this.dispatchEvent(new MessageEvent(field('event') ?? 'message', { data: field('data') }));
  }
}

describe('the guide of the host', () => {
  let host: Host;
  let far: ScriptedProvider;
  const folders: string[] = [];

  afterEach(async () => {
    await host.stop();
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });

  async function begun(keptBytes: number): Promise<{ url: string; has: Conversation }> {
    host = await startHost({
      keptBytes,
      sessionOptions: () => {
        far = scriptedProvider();
        return { provider: far, connect: { model: 'm' } };
      },
    });
    const { id } = JSON.parse((await ask('POST', `${host.url}/sessions`)).body);
    return { url: `${host.url}/sessions/${id}/events`, has: host.feeds.get(id)?.conversation as Conversation };
  }

  async function clients(name: string): Promise<Clients> {
    const [snippet, ...others] = snippetsOf('docs/guides/host.md').filter(({ code }) => code.includes(name));
    if (snippet === undefined || others.length > 0) throw new TypeError(`expected one block with ${name}`);
    const { folder, files } = writeSnippets([snippet]);
    folders.push(folder);
    return import(/* @vite-ignore */ [...files.keys()][0] ?? '');
  }

  it('follows a session with fetch, to its end and when it has ended', async () => {
    const { follow } = await clients('function follow');
    const { url, has } = await begun(1_000);
    far.emit({ type: 'text', text: 'Good ' });
    let shown = 0;
    const following = follow(url, () => shown++);
    while (shown === 0) await quiet();
    far.emit({ type: 'text', text: 'evening.' });
    far.emit({ type: 'closed' });
    for (const conversation of [await following, await follow(url, () => {})]) {
      expect(conversation.state).toMatchObject({ phase: 'finished', diagnostics: [] });
      expect(bytesOf(conversation)).toBe(bytesOf(has));
    }
    expect((await follow(url.replace(/run_\w/, 'run_x'), () => {})).state.phase).toBe('awaiting_init');
  });

  it.each([
    ['what it has missed', 100_000, 1],
    ['the state again', 1, 3],
  ])('gives an EventSource that comes back %s', async (_, keptBytes, conversations) => {
    const { showFrom } = await clients('function showFrom');
    const { url, has } = await begun(keptBytes);
    const seen = new Set<Conversation>();
    let last: Conversation | undefined;
    const source = new Source(url);
    showFrom(source, (conversation) => {
      last = conversation;
      seen.add(conversation);
    });
    for (const text of ['Good ', 'evening', '.']) {
      // it is up to date; then it loses the connection, and something is said before it is back
      while (last === undefined || bytesOf(last) !== bytesOf(has)) await quiet();
      if (text !== '.') source.break();
      far.emit({ type: 'text', text });
      await quiet();
    }
    far.emit({ type: 'closed' });
    await source.closed;
    expect(last?.state).toMatchObject({ phase: 'finished', diagnostics: [] });
    expect(bytesOf(last as Conversation)).toBe(bytesOf(has));
    expect(seen.size).toBe(conversations);
  });
});
