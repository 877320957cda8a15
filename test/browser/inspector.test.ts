/** The inspector's page in Chromium, under the policy of its server: what it tells, to whom, and how smoothly. */
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Frame } from '../../src/inspect/view/frames.js';
import { chromiumPath, launch } from './chromium.js';
import { contrast, focused, names, smallTargets, startFrames, watch } from './inspector-checks.js';
import { conversationFrames, demoFrames, liveOpening, liveSteps, scenarioFrames, take } from './inspector-runs.js';
import { type InspectorSite, serveInspector } from './inspector-site.js';

const executable = chromiumPath();
/** Kept after the run, to be looked at. */
const output = fileURLToPath(new URL('output/', import.meta.url));

interface Looks {
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
  readonly hash?: string;
}

describe.skipIf(executable === undefined)('the inspector in Chromium', () => {
  let site: InspectorSite;
  let browser: Browser;
  let demo: readonly Frame[];
  let interruption: readonly Frame[];
  let page: Page;
  /** What a page may not do: speak up, throw, ask another host for something. */
  let trouble: string[] = [];

  beforeAll(async () => {
    [site, browser, demo, interruption] = await Promise.all([
      serveInspector(),
      launch(executable as string),
      demoFrames(),
      scenarioFrames('interruption-while-executing'),
    ]);
    await mkdir(output, { recursive: true });
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });

  afterEach(async () => {
    site.refuse(false);
    if (page === undefined || page.isClosed()) return;
    expect(trouble).toEqual([]);
    expect(await page.evaluate('violations')).toEqual([]);
    await page.close();
  });

  async function open(frames: readonly Frame[], { width = 1280, height = 800, dark = false, hash = '' }: Looks = {}) {
    trouble = [];
    site.tell(frames);
    page = await browser.newPage({ viewport: { width, height }, colorScheme: dark ? 'dark' : 'light' });
    const host = new URL(site.url).host;
    page.on('pageerror', (error) => trouble.push(String(error)));
    page.on('console', (message) => trouble.push(`${message.type()}: ${message.text()}`));
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.host !== host && url.protocol !== 'data:') trouble.push(`asked ${request.url()}`);
    });
    await page.addInitScript(watch);
    await page.goto(site.url + hash);
    await says('#connection', frames.at(-1)?.type === 'ended' ? 'ended' : 'connected');
    await settled();
  }

  /** Waits until an element says this. */
  async function says(selector: string, text: string | RegExp): Promise<void> {
    const place = page.locator(selector);
    await (typeof text === 'string' ? place.filter({ hasText: text }) : place.filter({ hasText: text })).waitFor();
  }

  /** Waits until something in the page has this in it; its policy lets no function wait there. */
  const becomes = (what: string, has: string) => expect.poll(() => page.evaluate(`String(${what})`)).toContain(has);

  /** Waits until the page has drawn what was asked of it. */
  async function settled(): Promise<void> {
    await page.evaluate(
      'new Promise((done) => { let left = 4; const next = () => (--left === 0 ? done() : requestAnimationFrame(next)); next(); })',
    );
  }

  async function press(...keys: string[]): Promise<void> {
    for (const key of keys) await page.keyboard.press(key);
    await settled();
  }

  /** Milliseconds of processor time, not of the clock: other work on the machine does not count. */
  async function meter(): Promise<() => Promise<Record<string, number>>> {
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    return async () => {
      const { metrics } = await session.send('Performance.getMetrics');
      return Object.fromEntries(metrics.map(({ name, value }) => [name, value * 1_000]));
    };
  }

  function spentOf(from: Record<string, number>, to: Record<string, number>, frames: number): string {
    const per = (name: string) => (((to[name] ?? 0) - (from[name] ?? 0)) / frames).toFixed(1);
    return `${per('TaskDuration')} ms a frame (scripts ${per('ScriptDuration')}, styles ${per('RecalcStyleDuration')}, layout ${per('LayoutDuration')})`;
  }

  const text = async (selector: string) =>
    (await page.locator(selector).allInnerTexts()).join(' ').replace(/\s+/g, ' ').trim();
  const shot = (name: string) => page.screenshot({ path: `${output}inspector-${name}.png` });
  const treeOf = async () =>
    (await page.locator('#tree .row:not([hidden])').allInnerTexts()).map((row) => row.replace(/\s+/g, ' ').trim());
  const lit = () => page.locator('#chart .state.lit text').allTextContents();

  /** To the actor whose line in the tree has this. */
  async function choose(name: string): Promise<void> {
    await page.locator('#tree .row:not([hidden])', { hasText: name }).click();
    await settled();
  }

  describe('each pane', () => {
    it('tells of a recorded run, and how it ended', async () => {
      await open(demo);
      expect(await text('#title')).toBe('A booking assistant is spoken over');
      expect(await text('#source')).toBe('a scenario');
      expect(await treeOf()).toEqual([
        expect.stringMatching(/^▾ ■ scripted .*closed$/),
        expect.stringMatching(/^✔ .*c1 completed$/),
        expect.stringMatching(/^✕ .*c2 abandoned · settled$/),
      ]);
      expect(await lit()).toEqual(['closed']);
      expect(await page.locator('#lanes .lane').allInnerTexts()).toEqual(['far side', 'session', 'c1', 'c2', 'host']);
      expect(await page.locator('#sequence .row:not([hidden])').count()).toBeGreaterThan(8);
      expect(await page.locator('#talk .entry').allInnerTexts()).toContainEqual(
        expect.stringContaining('Room 7 it is.'),
      );
      expect(await text('#verdict')).toBe('✔ invariants hold');
      expect(await text('#instant')).toMatch(/^23 \/ 23 · 850 ms$/);
      await shot('1280-light');
    });

    it('alone tells why a call was abandoned', async () => {
      await open(interruption);
      const session = await text('.why');
      expect(session).toMatch(/✕ .*t1.* interrupted by the user before its commit point/);
      await choose('t1');
      const why = await text('.why');
      expect(why).toMatch(/^Why it was abandoned step \d+ interrupted by the user before its commit point/);
      expect(why).toMatch(/its code runs on/);
      await page.locator('.why a').first().click();
      await settled();
      expect(await lit()).toEqual(['abandoned', 'draining']);
      expect(await page.locator('#chart .taken').count()).toBe(1);
      expect(await text('.step')).toMatch(
        /event interrupted state executing → abandoned.draining cause from outside ↳? ?\d+ interrupted/,
      );
      expect(await text('#events .row.current .glyph')).toBe('✕');
      await shot('why-1280-light');
    });

    it('tells of a conversation, and why its transactions were rolled back', async () => {
      await open(await conversationFrames('failure-rolls-every-level-back'));
      await shot('conversation-1280-light');
      expect(await treeOf()).toContainEqual(expect.stringMatching(/✕ .* rolled back$/));
      await page.locator('#tree .row:not([hidden])', { hasText: 'rolled back' }).first().click();
      await settled();
      expect(await text('.why')).toMatch(/^Why it was rolled back step \d+ \S/);
      expect(await lit()).toEqual(['rolled_back']);
      await page.locator('.why a').first().click();
      await press('k');
      expect(await page.locator('#talk .withdrawn').count()).toBeGreaterThan(0);
      await press('k', 'k');
      expect(await page.locator('#talk .provisional').count()).toBeGreaterThan(0);
      await shot('transaction-1280-light');
    });

    it('is drawn in the dark, too', async () => {
      await open(interruption, { dark: true, hash: '' });
      await choose('t2');
      await page.locator('.why a').first().click();
      await settled();
      await shot('why-1280-dark');
    });
  });

  describe('the instant', () => {
    it('is moved by the slider, and everything shows that instant', async () => {
      await open(demo);
      await page.locator('#slider').focus();
      await press('Home');
      expect(await text('#instant')).toMatch(/^1 \/ 23/);
      expect(await treeOf()).toEqual([expect.stringMatching(/connecting$/)]);
      expect(await page.locator('#talk .entry').count()).toBe(0);
      await press('ArrowRight', 'ArrowRight', 'ArrowRight');
      expect(await text('#instant')).toMatch(/^4 \/ 23/);
      expect(await lit()).toEqual(['open', 'responding']);
      expect(await page.locator('#talk .provisional .mark').allInnerTexts()).toEqual(['provisional']);
      await press('PageUp');
      expect(Number((await text('#instant')).split(' ')[0])).toBeGreaterThan(5);
      await press('End');
      expect(await text('#instant')).toMatch(/^23 \/ 23/);
      expect(await page.locator('#slider').getAttribute('aria-valuetext')).toMatch(
        /^step 23 of 23, 850 milliseconds, session/,
      );
    });

    it('shows what is withdrawn struck out as it goes, later only when asked', async () => {
      await open(demo, { hash: '#n=17' });
      expect(await text('#talk .withdrawn')).toContain('withdrawn here');
      await shot('withdrawn-1280-light');
      await press('j');
      expect(await page.locator('#talk .withdrawn').count()).toBe(0);
      await page.locator('#gone').click();
      await settled();
      expect(await text('#talk .withdrawn')).toContain('withdrawn');
    });

    it('has an address, and so has the actor', async () => {
      await open(demo, { hash: '#n=17&actor=ses_simulated%2Fc2' });
      expect(await text('#instant')).toMatch(/^17 \/ 23/);
      expect(await text('.badge')).toBe('abandoned · draining');
      expect(await text('#follow')).toBe('❚❚ 6 behind');
      await becomes('document.title', 'step 17');
      expect(await page.title()).toMatch(/ · step 17 · A booking assistant is spoken over$/);
      await press('k');
      await becomes('location.hash', 'n=16');
      await page.locator('.step a').first().click();
      await page.goBack();
      await settled();
      expect(await text('#instant')).toMatch(/^16 \/ 23/);
    });

    it('stays where it is while more comes, and follows again', async () => {
      const run = liveSteps();
      await open([liveOpening(demo), { type: 'steps', steps: take(run, 40) }]);
      await says('#follow', '▶ following');
      await press('k');
      await says('#follow', '❚❚ 1 behind');
      site.send({ type: 'steps', steps: take(run, 10) });
      await says('#follow', '❚❚ 11 behind');
      expect(await text('#instant')).toMatch(/^39 \/ 50/);
      await press('f');
      await says('#instant', /^50 \/ 50/);
      site.send({ type: 'steps', steps: take(run, 10) });
      await says('#instant', /^60 \/ 60/);
    });
  });

  describe('the connection', () => {
    it('comes back after a break, and asks for what it missed', async () => {
      const run = liveSteps();
      await open([liveOpening(demo), { type: 'steps', steps: take(run, 5) }]);
      site.refuse(true);
      const before = site.connections.length;
      site.refuse(false);
      site.interrupt();
      await expect.poll(() => site.connections.length).toBeGreaterThan(before);
      expect(site.connections.at(-1)).toBe('2');
      site.send({ type: 'steps', steps: take(run, 5) });
      await says('#instant', /^10 \/ 10/);
      expect(trouble.splice(0).filter((line) => !line.includes('ERR_'))).toEqual([]);
    });

    it('says that it is refused, and offers to try again', async () => {
      const run = liveSteps();
      await open([liveOpening(demo), { type: 'steps', steps: take(run, 5) }]);
      site.refuse(true);
      site.interrupt();
      await says('#connection', 'no connection');
      await shot('refused-1280-light');
      site.refuse(false);
      await page.getByRole('button', { name: 'try again' }).click();
      await says('#connection', 'connected');
      await says('#instant', /^5 \/ 5/);
      // What a browser says on its own of a refused request.
      expect(trouble.splice(0).filter((line) => !/403|ERR_/.test(line))).toEqual([]);
    });

    it('says that it waits, and that something came which is no frame of this run', async () => {
      await open([liveOpening(demo)]);
      expect(await text('#tree')).toBe('No actor has begun yet.');
      expect(await text('#talk')).toBe('Nothing has been said yet.');
      await shot('empty-1280-light');
      const [, , late] = take(liveSteps(), 9).slice(0);
      site.send({ type: 'steps', steps: [take(liveSteps(), 1)[0] as never, late as never] });
      await says('#connection', 'not readable');
      expect(await page.locator('#connection').getAttribute('title')).toBe('step 2 was expected, step 3 came');
    });

    it('begins anew when the run does, and keeps the actor that was chosen', async () => {
      const run = take(liveSteps(), 60);
      await open([liveOpening(demo), { type: 'steps', steps: run }]);
      await choose('c3');
      const id = await text('.names .id');
      site.send(liveOpening(demo), { type: 'steps', steps: take(liveSteps(), 30) });
      await says('#instant', /^30 \/ 30/);
      expect(await text('.names .id')).toBe(id);
    });
  });

  describe('findings', () => {
    const unjudged = (frames: readonly Frame[]) => frames.filter(({ type }) => type !== 'judged');
    const broken = (frames: readonly Frame[]): readonly Frame[] => [
      ...unjudged(frames).slice(0, -1),
      {
        type: 'judged',
        upTo: 23,
        isJudged: true,
        findings: [{ n: 17, actor: 'ses_simulated/c2', invariant: 'D5', detail: 'a call was abandoned <b>twice</b>' }],
      },
      ...frames.slice(-1),
    ];

    it('are to be seen at once, and lead to their step', async () => {
      await open(broken(demo));
      expect(await text('#verdict')).toBe('✘ 1 invariant broken');
      await page.locator('#verdict').focus();
      await press('Enter');
      expect(await text('#findings')).toContain('step 17 ✘ D5 a call was abandoned <b>twice</b> ses_simulated/c2');
      await shot('findings-1280-light');
      await page.locator('#findings a').click();
      await settled();
      expect(await page.locator('#findings').isVisible()).toBe(false);
      expect(await text('#instant')).toMatch(/^17 \/ 23/);
      expect(await text('.names .id')).toContain('ses_simulated/c2');
    });

    it('are told apart from what cannot be judged', async () => {
      await open([
        ...unjudged(demo).slice(0, -1),
        { type: 'judged', upTo: 0, isJudged: false, why: 'there is no journal', findings: [] },
      ]);
      expect(await text('#verdict')).toBe('– invariants not judged');
      await page.locator('#verdict').click();
      expect(await text('#findings')).toContain('They are not judged: there is no journal');
      await press('Escape');
      expect(await page.locator('#findings').isVisible()).toBe(false);
    });
  });

  describe('the keyboard', () => {
    it('reaches everything, and shows where it is', async () => {
      await open(demo);
      const been: string[] = [];
      for (let at = 0; at < 60; at++) {
        await page.keyboard.press('Tab');
        const at = (await page.evaluate(focused)) as { who: string; isSeen: boolean } | undefined;
        if (at === undefined) break;
        expect(at).toMatchObject({ isSeen: true });
        been.push(at.who);
      }
      for (const id of [
        'verdict',
        'help-button',
        'tree',
        'search',
        'only',
        'events',
        'chart',
        'sequence',
        'why',
        'talk',
        'slider',
        'follow',
      ])
        expect(been).toContain(id);
    });

    it('walks the tree, the events and the instant, searches, filters, and finds its way back', async () => {
      await open(demo);
      await press('1', 'ArrowDown', 'ArrowDown');
      expect(await text('.names .id')).toContain('ses_simulated/c2');
      await press('ArrowLeft', 'ArrowLeft');
      expect(await treeOf()).toHaveLength(1);
      await press('ArrowRight', 'ArrowRight');
      expect(await text('.names .id')).toContain('ses_simulated/c1');
      await press('End', 'w');
      expect(await text('#instant')).toMatch(/^17 /);
      await press('o');
      expect(await text('#events-note')).toBe('5 of 23');
      await press('j');
      expect(await text('#instant')).toMatch(/^19 /);
      await press('o', '/');
      await page.keyboard.type('book_room');
      await settled();
      expect(await text('#events-note')).toMatch(/^\d of 23$/);
      await shot('search-1280-light');
      await press('ArrowDown', 'Home', 'Enter');
      expect(await text('.step')).toContain('event');
      await press('/');
      await page.keyboard.type(' nowhere at all');
      await settled();
      expect(await text('#events')).toContain('No step has what you look for');
      await press('Escape');
      expect(await text('#events-note')).toBe('23');
      await press('Escape', 'Home');
      expect(await text('#instant')).toMatch(/^1 /);
      await press('?');
      expect(await text('#help')).toContain('result sent: the commit point');
      await shot('help-1280-light');
      await press('Escape');
      expect(await page.locator('#help').isVisible()).toBe(false);
      await page.getByRole('button', { name: 'call', exact: true }).click();
      await settled();
      expect(await text('#events-note')).toBe('10 of 23');
    });

    it('leaves out actors that are over, if asked', async () => {
      await open(demo, { hash: '#n=18' });
      await page.getByRole('button', { name: 'open only' }).click();
      await settled();
      expect(await treeOf()).toEqual([expect.stringContaining('ses_simulated'), expect.stringContaining('c2')]);
      await page.getByRole('button', { name: 'open only' }).click();
      await settled();
      expect(await treeOf()).toHaveLength(3);
    });

    it('draws the chart larger, smaller, whole', async () => {
      await open(demo, { hash: '#actor=ses_simulated%2Fc1' });
      const width = async () => Number(await page.locator('#chart svg').getAttribute('width'));
      const first = await width();
      await press('2', '+');
      expect(await width()).toBeGreaterThan(first);
      await press('-', '-');
      expect(await width()).toBeLessThan(first);
      await press('0');
      expect(await width()).toBeLessThanOrEqual((await page.locator('#chart').boundingBox())?.width ?? 0);
      await shot('whole-1280-light');
    });
  });

  describe('for everybody', () => {
    it.each([
      ['light', false],
      ['dark', true],
    ])('every word has enough contrast: %s', async (_, dark) => {
      await open(interruption, { dark, hash: '#n=14' });
      await page.locator('#gone').click();
      await page.locator('#verdict').click();
      await settled();
      const { looked, found } = (await page.evaluate(contrast)) as { looked: number; found: string[] };
      expect(found).toEqual([]);
      expect(looked).toBeGreaterThan(120);
    });

    it('everything has a name, a role that is whole, a place in its list', async () => {
      await open(demo);
      expect(await page.evaluate(names)).toEqual([]);
      await page.setViewportSize({ width: 320, height: 640 });
      await settled();
      expect(await page.evaluate(names)).toEqual([]);
    });

    it('is whole at 320 pixels: no sideways scroll, panes by tabs', async () => {
      await open(interruption, { width: 320, height: 640 });
      const tabs = ['tree', 'chart', 'sequence', 'events', 'details', 'talk'];
      await page.locator('#tab-tree').focus();
      for (const tab of tabs) {
        expect(await page.locator('[role=tabpanel]:not([hidden])').getAttribute('id')).toBe(`pane-${tab}`);
        expect(
          await page.evaluate('[document.documentElement.scrollWidth, document.documentElement.scrollHeight]'),
        ).toEqual([320, 640]);
        expect(await page.evaluate(smallTargets)).toEqual([]);
        await shot(`320-${tab}`);
        await press('ArrowRight');
      }
      await page.locator('#tab-tree').click();
      await choose('t1');
      expect(await page.locator('#tab-details').getAttribute('aria-selected')).toBe('true');
      expect(await text('.why')).toContain('Why it was abandoned');
      await shot('320-why');
    });
  });

  it('shows what strangers wrote as text, whatever it is', async () => {
    const evil = '<img src=x onerror=alert(1)><script>alert(2)</script>\u202egnp.exe "&\u0000';
    const step = { ...(take(liveSteps(), 1)[0] as object), actor: evil, label: evil, event: evil, to: evil, why: evil };
    const told = {
      ...step,
      did: [{ effect: evil, detail: evil }],
      arrows: [{ from: 'session', to: `actor:${evil}`, text: evil }],
      edits: [{ edit: 'add', id: evil, who: 'agent', text: evil, provisional: true }],
    };
    await open([
      { ...(liveOpening(demo) as Extract<Frame, { type: 'opening' }>), title: evil },
      { type: 'steps', steps: [told as never] },
    ]);
    await says('#instant', /^1 /);
    expect(await page.locator('img, main script').count()).toBe(0);
    expect(await page.locator('#talk .text').textContent()).toBe(evil);
    expect(await page.locator('#events .row:not([hidden]) .name').textContent()).toBe(evil);
  });

  it('100,000 steps are there in no time, and are scrolled through with few rows in the document', async () => {
    const run = liveSteps();
    const steps: Frame[] = Array.from({ length: 500 }, () => ({ type: 'steps', steps: take(run, 200) }));
    const before = performance.now();
    await open([liveOpening(demo), ...steps]);
    await says('#instant', /^100000 \/ 100000/);
    await says('#events-note', '100000');
    console.log(`inspector: 100,000 steps read and listed in ${Math.round(performance.now() - before)} ms`);
    await page.evaluate(startFrames);
    await page.evaluate(`new Promise((done) => {
      const list = document.querySelector('#events');
      const chart = document.querySelector('#sequence');
      let left = 60;
      const next = () => {
        list.scrollTop = (list.scrollHeight * left) / 61;
        chart.scrollTop = (chart.scrollHeight * left) / 61;
        if (left-- > 0) requestAnimationFrame(next); else done();
      };
      next();
    })`);
    await settled();
    const frames = (await page.evaluate('frames_')) as number[];
    console.log(`inspector: scrolling through them, longest frame ${Math.round(Math.max(...frames))} ms`);
    expect(await page.locator('.row').count()).toBeLessThan(200);
    expect(await text('#events .row:not([hidden]) .n >> nth=0')).not.toBe('');
    await page.locator('#search').fill('abandoned c333');
    await says('#events-note', /^\d+ of 100000$/);
    await settled();
    await expect.poll(() => text('#events-note')).not.toMatch(/^0 of/);
  }, 60_000);

  it('takes 1,000 steps a second, and moves nothing that was there', async () => {
    const run = liveSteps();
    await open([liveOpening(demo), { type: 'steps', steps: take(run, 60) }]);
    await page.evaluate('shifts.length = 0');
    await page.evaluate(startFrames);
    const spent = await meter();
    const busy = await spent();
    const seconds = 5;
    const begun = performance.now();
    let sent = 60;
    while (sent < 60 + seconds * 1_000) {
      const due = 60 + Math.min(seconds * 1_000, Math.floor(performance.now() - begun));
      if (due > sent)
        site.send(
          { type: 'steps', steps: take(run, due - sent) },
          { type: 'judged', upTo: due, isJudged: true, findings: [] },
        );
      sent = Math.max(sent, due);
      // Not a wait for anything: the pace that is measured.
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await says('#instant', new RegExp(`^${sent} / ${sent}`));
    const frames = ((await page.evaluate('frames_')) as number[]).sort((one, two) => one - two);
    const longTasks = (await page.evaluate('longTasks')) as number[];
    const at = (share: number) => Math.round((frames[Math.floor((frames.length - 1) * share)] ?? 0) * 10) / 10;
    console.log(
      `inspector: 1,000 steps/s for ${seconds} s: ${frames.length} frames, median ${at(0.5)} ms, 99 % ${at(0.99)} ms, longest ${at(1)} ms; ` +
        `of processor time ${spentOf(busy, await spent(), frames.length)}; tasks over 50 ms: ${longTasks.length}${longTasks.length === 0 ? '' : ` (${longTasks.map(Math.round).join(', ')} ms)`}`,
    );
    await shot('live-1280-light');
    const shifts = (await page.evaluate('shifts')) as { value: number; what: string[] }[];
    expect(shifts).toEqual([]);
  }, 60_000);
});
