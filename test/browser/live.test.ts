/** The drivers in a browser, on its own WebSocket, against the fakes of their services, under a strict policy. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import type { Rolldown } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type GeminiLoopback,
  geminiLoopback,
  geminiScript,
  type OpenAiLoopback,
  type OpenAiReply,
  openaiLoopback,
} from '../../src/testing/loopback/index.js';
import { bundle, foreign } from './bundle.js';
import { chromiumPath, launch } from './chromium.js';
import type { LiveRun } from './page/live.js';
import { type Site, serve } from './site.js';

const executable = chromiumPath();

/** What only the host's server has. */
const serverKey = 'sk-only-on-the-server';

describe.skipIf(executable === undefined)('live drivers in Chromium', () => {
  let folder: string;
  let chunks: Rolldown.OutputChunk[];
  let openai: OpenAiLoopback;
  let gemini: GeminiLoopback;
  let site: Site;
  let browser: Browser;
  let page: Page;
  const trouble: string[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'browser-live-'));
    ({ chunks } = await bundle(folder, ['live']));
    openai = await openaiLoopback({
      keys: [serverKey],
      reply: ({ items }) => openaiReply(items.at(-1) ?? {}),
      pace: { ms: 1 },
    });
    gemini = await geminiLoopback({ keys: ['auth_tokens/once'], model: geminiModel });
    const geminiSocket = gemini.url.replace('http:', 'ws:');
    site = await serve(folder, {
      script: 'live',
      connects: [`ws://${openai.server.host}`, geminiSocket],
      posts: {
        '/ephemeral-key': ephemeralKey,
        '/live-token': async () => 'auth_tokens/once',
      },
    });
    browser = await launch(executable as string);
    page = await browser.newPage();
    page.on('pageerror', (error) => trouble.push(String(error)));
    page.on('console', (message) => trouble.push(`${message.type()}: ${message.text()}`));
    await page.goto(site.url);
  }, 120_000);

  /** As the server of a host does it: the key stays there, the browser gets one that serves for a while. */
  async function ephemeralKey(): Promise<string> {
    const response = await fetch(`http://${openai.server.host}/v1/realtime/client_secrets`, {
      method: 'POST',
      headers: { authorization: `Bearer ${serverKey}` },
    });
    return ((await response.json()) as { value: string }).value;
  }

  afterAll(async () => {
    await browser?.close();
    await site?.close();
    await openai?.close();
    await gemini?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('needs nothing of Node: no module of it, and not the package ws', () => {
    expect(foreign(chunks)).toEqual([]);
    const sources = chunks.flatMap((chunk) => Object.keys(chunk.modules));
    for (const driver of ['openai-realtime/session', 'gemini-live/live-session']) {
      expect(sources.some((id) => id.includes(`src/providers/${driver}`))).toBe(true);
    }
  });

  const turns = [
    'tool_started',
    'tool_completed',
    'text',
    'turn_complete',
    'text',
    'interrupted',
    'text',
    'turn_complete',
  ];
  const ended = { reason: 'host', calls: [{ id: expect.any(String), name: 'lookup', state: 'completed' }] };

  it('OpenAI Realtime: a call, an interruption of which the service is told, and on', async () => {
    const run: LiveRun = await page.evaluate(`openai('${openai.baseUrl}')`);
    expect(run.events).toEqual(turns);
    expect(run.said).toMatch(/^It says: moon: a light at nightOnce .*You said: bye$/);
    expect(run.audio).toBeGreaterThan(10_000);
    expect(run.ended).toEqual(ended);
    expect(openai.violations).toEqual([]);
    // the key travelled as a subprotocol, for want of headers
    const { protocols, headers } = openai.session.connection.request;
    expect(protocols).toEqual(['realtime', expect.stringMatching(/^openai-insecure-api-key\.ek_/)]);
    expect(headers.authorization).toBeUndefined();
    expect(openai.session.of('response.cancel')).toHaveLength(1);
    expect(openai.session.of('conversation.item.truncate')).toMatchObject([{ audio_end_ms: 20 }]);
  });

  it('Gemini Live: binary frames, a call, an interruption, and on', async () => {
    const run: LiveRun = await page.evaluate(`gemini('${gemini.url}')`);
    // it acknowledges a result by going on
    const types = run.events.filter((type) => type !== 'tool_completed');
    expect(types.filter((type, at) => type !== types[at - 1])).toEqual(
      turns.filter((type) => type !== 'tool_completed'),
    );
    expect(run.said).toMatch(/^It says: moon: a light at nightOnce .*You said: bye$/);
    expect(run.audio).toBeGreaterThan(1_000);
    expect(run.ended).toEqual(ended);
    expect(gemini.violations).toEqual([]);
    const { path, query } = (gemini.peer as NonNullable<typeof gemini.peer>).connection.request;
    expect(path).toMatch(/v1alpha\.GenerativeService\.BidiGenerateContentConstrained$/);
    expect(query.get('access_token')).toBe('auth_tokens/once');
  });

  it('says nothing on the console and throws nothing', () => {
    expect(trouble).toEqual([]);
  });

  it('a key that is refused rejects the connect, without the key', async () => {
    const message: string = await page.evaluate(`refused('${openai.baseUrl}')`);
    expect(message).toMatch(/^connect to openai at ws:.* failed: /);
    expect(message).not.toContain('ek_wrong');
  });

  it('an address that the policy of the page does not name rejects the connect', async () => {
    const elsewhere: string = await page.evaluate(`refused('ws://127.0.0.1:1/v1')`);
    expect(elsewhere).toMatch(/^connect to openai at ws:\/\/127\.0\.0\.1:1\/v1\/realtime failed: /);
    expect(trouble.join()).toMatch(/Content Security Policy/);
  });
});

function openaiReply(last: Readonly<Record<string, unknown>>): OpenAiReply {
  if (last.type === 'function_call_output') return { text: `It says: ${String(last.output)}` };
  const [part] = last.content as { text: string }[];
  if (part?.text === 'lookup') return { calls: [{ name: 'lookup', arguments: '{"word":"moon"}' }] };
  // longer than anybody waits
  if (part?.text === 'long') return { text: 'Once upon a time '.repeat(10_000) };
  return { text: `You said: ${part?.text}` };
}

function* geminiModel(turn: geminiScript.UserTurn): geminiScript.Reply {
  const text = turn.type === 'text' ? turn.text : '';
  if (text === 'lookup') {
    const [answer] = yield geminiScript.call({ name: 'lookup', args: { word: 'moon' } });
    yield geminiScript.say(`It says: ${String(answer?.response.output)}`);
  } else if (text === 'long') {
    yield geminiScript.say('Once upon a time ');
    // on a clock that nobody moves
    yield geminiScript.pause(1);
  } else yield geminiScript.say(`You said: ${text}`);
}
