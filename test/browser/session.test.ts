/** The core in a browser: bundled as a host would, in a page and in a worker, where no code may be made from text. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import type { Rolldown } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundle, foreign } from './bundle.js';
import { chromiumPath, launch } from './chromium.js';
import type { Conversed } from './page/converse.js';
import { type Site, serve } from './site.js';

const executable = chromiumPath();

describe.skipIf(executable === undefined)('a session in Chromium', () => {
  let folder: string;
  let chunks: Rolldown.OutputChunk[];
  let warnings: string[];
  let site: Site;
  let browser: Browser;
  let page: Page;
  const trouble: string[] = [];
  let conversed: Record<'page' | 'worker', Conversed>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'browser-'));
    ({ chunks, warnings } = await bundle(folder, ['page', 'worker']));
    site = await serve(folder, { script: 'page' });
    browser = await launch(executable as string);
    page = await browser.newPage();
    page.on('pageerror', (error) => trouble.push(String(error)));
    page.on('console', (message) => {
      if (message.type() !== 'log') trouble.push(`${message.type()}: ${message.text()}`);
    });
    await page.goto(site.url);
    const [inPage, inWorker] = (await page.evaluate('globalThis.conversed')) as [Conversed, Conversed];
    conversed = { page: inPage, worker: inWorker };
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await site?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('needs nothing of Node: the bundle imports only itself', () => {
    expect(chunks.length).toBeGreaterThanOrEqual(2);
    expect(foreign(chunks)).toEqual([]);
    const sources = chunks.flatMap((chunk) => Object.keys(chunk.modules));
    expect(sources.some((id) => id.includes('src/runtime/session-runtime'))).toBe(true);
    expect(warnings).toEqual([]);
  });

  it('runs where code may not be made from text, in a page and in a worker', () => {
    expect(conversed.page.place).toEqual({ hasProcess: false, hasDocument: true, makesCode: false });
    expect(conversed.worker.place).toEqual({ hasProcess: false, hasDocument: false, makesCode: false });
  });

  describe.each(['page', 'worker'] as const)('in a %s', (place) => {
    it('delivers the conversation in order', () => {
      const ids = { sessionId: 'ses_browser', turnId: 'turn_browser' };
      const call = (toolUseId: string, toolName: string) => ({ ...ids, toolUseId, toolName });
      expect(conversed[place].events).toEqual([
        { type: 'text', ...ids, text: 'let me see' },
        { type: 'tool_started', ...call('c1', 'lookup') },
        {
          type: 'tool_completed',
          ...call('c1', 'lookup'),
          output: expect.stringContaining('word'),
          isError: true,
        },
        { type: 'tool_started', ...call('c2', 'lookup') },
        {
          type: 'tool_completed',
          ...call('c2', 'lookup'),
          output: '{"word":"moon","means":"a light at night"}',
          isError: false,
        },
        { type: 'tool_started', ...call('c3', 'slow') },
        { type: 'interrupted', ...ids },
        { type: 'tool_abandoned', ...call('c3', 'slow') },
        { type: 'turn_complete', ...ids },
        { type: 'closed', ...ids, reason: 'good night' },
      ]);
    });

    it('ends with a report of every call', () => {
      expect(conversed[place].report).toEqual({
        reason: 'far_side',
        message: 'good night',
        calls: [
          { id: 'c1', name: 'lookup', state: 'completed' },
          { id: 'c2', name: 'lookup', state: 'completed' },
          { id: 'c3', name: 'slow', state: 'abandoned' },
        ],
      });
    });

    it('publishes what was decided, stubs what was abandoned, closes nothing that has closed', () => {
      expect(conversed[place].driver).toEqual([
        { method: 'sendToolResult', id: 'c1', output: expect.stringContaining('word'), isError: true },
        { method: 'sendToolResult', id: 'c2', output: '{"word":"moon","means":"a light at night"}', isError: false },
        { method: 'abandonToolCall', id: 'c3' },
      ]);
    });

    it('leaves the signal of abandoned code alone and tells of its late outcome', () => {
      expect(conversed[place].late).toEqual([{ status: 'resolved', value: 'signal live' }]);
      expect(conversed[place].lifecycle).toContain('settled_late');
      expect(conversed[place].lifecycle.filter((line) => line.startsWith('c3'))).toEqual([
        'c3 admitted',
        'c3 queued',
        'c3 executing',
        'c3 abandoned',
      ]);
    });

    it('is an actor that can be inspected', () => {
      expect(conversed[place].states[0]).toEqual({ open: 'responding' });
      expect(conversed[place].states.slice(-2)).toEqual([{ open: 'waiting' }, 'closed']);
    });

    it('simulates a scenario in virtual time', () => {
      expect(conversed[place].scenario).toMatchObject({ unmet: [], violations: [] });
      expect(conversed[place].scenario.lines).toBeGreaterThan(10);
    });
  });

  it('says nothing on the console and throws nothing', () => {
    expect(trouble).toEqual([]);
  });
});
