/** The example host, H1 to H3: real sockets, many sessions, clients that come and go, requests of every kind. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ConversationClosedError } from '../../src/index.js';
import { type ScriptedProvider, type ScriptedProviderOptions, scriptedProvider } from '../../src/testing/index.js';
import { quiet } from '../../src/testing/quiet.js';
import { expectNoHarm } from '../runtime/no-harm.js';
import { watchProcess } from '../runtime/stage.js';
import { type CrowdReport, crowd } from './crowd.js';
import { type Host, type HostOptions, type SessionOptions, startHost } from './host.js';
import { addedTo, bundledHost, collect, footprint, HostProcess } from './process.js';
import { ask, bytesOf, Reader } from './reader.js';

const seed = Number(process.env.COMMITPOINT_SEED ?? 20_261_130);

describe(`two hundred sessions and six hundred clients (seed ${seed})`, () => {
  let report: CrowdReport;
  let before: readonly string[];
  let added: readonly string[];
  let harm: readonly unknown[];

  beforeAll(async () => {
    const watch = watchProcess();
    before = footprint();
    report = await crowd(seed, 200);
    added = await addedTo(before);
    harm = await watch.stop();
  }, 120_000);

  it('H1: each client has the conversation that the host has, without a gap or a repeat', () => {
    for (const { kind, server, clients } of report.sessions) {
      for (const { bytes, faults } of clients) expect([kind, faults, bytes === server]).toEqual([kind, [], true]);
    }
  });

  it('H1: some went on behind their last event, others began again', () => {
    expect(report.counts.resumed).toBeGreaterThan(10);
    // more often than each client did once
    expect(report.counts.resets).toBeGreaterThan(report.sessions.length * 3);
    expect(report.counts.live).toBeGreaterThan(1_000);
  });

  it('nothing that a far side said is lost, whatever became of it', () => {
    for (const { kind, said, recorded } of report.sessions) expect([kind, recorded]).toEqual([kind, said]);
    expect(new Set(report.sessions.map(({ kind, phase }) => `${kind} ${phase}`))).toEqual(
      new Set([
        'closes finished',
        'breaks finished',
        'ends failed',
        'aborted failed',
        'deleted finished',
        'lives finished',
        'busy finished',
      ]),
    );
  });

  it('a session that cannot connect is answered with 502', () => {
    expect(report.refused).toHaveLength(25);
    expect(new Set(report.refused.map(({ status }) => status))).toEqual(new Set([502]));
    expect(report.reported).toEqual(report.refused.map(() => 'TypeError: nobody is there'));
  });

  it('stop() names every session that lived, and cuts off at the deadline those that were busy', () => {
    expect(report.stopped.map(({ id }) => id).sort()).toEqual([...report.living].sort());
    const kindOf = new Map(report.sessions.map(({ id, kind }) => [id, kind]));
    const kinds = report.stopped.map(({ id, cut }) => `${kindOf.get(id)} ${cut}`);
    expect(new Set(kinds)).toEqual(new Set(['lives false', 'busy true']));
    expect(kinds).toHaveLength(50);
  });

  it('H3: nothing is left: no session, no call, no socket, no timer, no listener, no stray rejection', () => {
    expect(report.left).toMatchObject({ sessions: 0, restarting: 0, toolsRunning: 0, toolsWaiting: 0 });
    expect(report.listeners).toBe(0);
    expect(added).toEqual([]);
    expect(harm).toEqual([]);
  });

  it('H3: the memory of all of it is given back, of tools that hang for ever as well', async () => {
    await collect();
    expect(report.held.filter((reference) => reference.deref() !== undefined)).toEqual([]);
  });
});

describe('a host', () => {
  expectNoHarm();
  let host: Host;
  let reported: unknown[] = [];
  const fars = new Map<string, ScriptedProvider>();

  async function hosting(options: Partial<HostOptions> = {}, session: Partial<SessionOptions> = {}): Promise<void> {
    reported = [];
    host = await startHost({
      report: (error) => void reported.push(error),
      lingerMs: 20,
      deadlineMs: 100,
      sessionOptions: (id) => ({
        provider: () => far(id),
        connect: { model: 'm' },
        closeTimeoutMs: 50,
        ...session,
      }),
      ...options,
    });
  }

  function far(id: string, options: ScriptedProviderOptions = {}): ScriptedProvider {
    const made = scriptedProvider(options);
    fars.set(id, made);
    return made;
  }

  afterEach(async () => {
    await host.stop();
    fars.clear();
  });

  const to = (path: string) => `${host.url}${path}`;
  const status = async (method: string, path: string, body?: string | Buffer) =>
    (await ask(method, to(path), body)).status;

  async function begun(): Promise<string> {
    const { status, body } = await ask('POST', to('/sessions'));
    expect(status).toBe(201);
    return JSON.parse(body).id;
  }

  const reader = (id: string) => new Reader(to(`/sessions/${id}/events`));
  const says = (id: string, text: string) => fars.get(id)?.emit({ type: 'text', text });
  const conversationOf = (id: string) => host.feeds.get(id)?.conversation as NonNullable<Reader['conversation']>;

  describe('is asked', () => {
    it('for what there is not, or in a way that there is not', async () => {
      await hosting();
      const id = await begun();
      const asked: [string, string, number, string?][] = [
        ['GET', '/', 404],
        ['GET', '//', 404],
        ['GET', '/sessions/', 404],
        ['GET', '/sessions//events', 404],
        ['POST', `/sessions/${id}/`, 404],
        ['POST', `/sessions/${id}/input/`, 404],
        ['GET', '/sessions/run_0/events', 404],
        ['DELETE', '/sessions/run_0', 404],
        ['POST', '/sessions/run_0/input', 404],
        ['POST', '/sessions/%2e%2e/input', 404],
        ['GET', '/sessions', 405, 'POST'],
        ['HEAD', '/sessions', 405, 'POST'],
        ['OPTIONS', '/sessions', 405, 'POST'],
        ['HEAD', `/sessions/${id}/events`, 405, 'GET'],
        ['OPTIONS', `/sessions/${id}/events`, 405, 'GET'],
        ['POST', `/sessions/${id}/events`, 405, 'GET'],
        ['PUT', `/sessions/${id}`, 405, 'DELETE'],
        ['POST', '/stats', 405, 'GET'],
      ];
      for (const [method, path, expected, allow] of asked) {
        const { status, headers } = await ask(method, to(path));
        expect([method, path, status, headers.allow]).toEqual([method, path, expected, allow]);
      }
      expect(reported).toEqual([]);
    });

    it('with a body that is none', async () => {
      await hosting();
      const id = await begun();
      const big = JSON.stringify({ text: 'é'.repeat(40_000) });
      const asked: [string | Buffer, number][] = [
        ['', 400],
        ['{', 400],
        ['null', 400],
        ['[]', 400],
        ['"text"', 400],
        ['{"text":1}', 400],
        // fewer characters than the limit, more bytes
        [big, 413],
        [Buffer.alloc(5_000_000, 0x20), 413],
        ['{"text":"hi"}', 202],
      ];
      for (const [body, expected] of asked) {
        expect([body.slice(0, 20), await status('POST', `/sessions/${id}/input`, body)]).toEqual([
          body.slice(0, 20),
          expected,
        ]);
      }
      expect(reported).toEqual([]);
    });

    it('with a body that breaks off, and goes on', async () => {
      await hosting();
      const id = await begun();
      const socket = connected();
      socket.write(`POST /sessions/${id}/input HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"te`);
      await quiet();
      socket.destroy();
      expect(await status('POST', `/sessions/${id}/input`, '{"text":"hi"}')).toBe(202);
      expect(reported).toEqual([]);
    });

    it('for more sessions than it takes, and for one when there is room again', async () => {
      await hosting({ maxSessions: 1 });
      const id = await begun();
      const refused = await ask('POST', to('/sessions'));
      expect(refused.status).toBe(429);
      expect(JSON.parse(refused.body).error).toMatch(/1 sessions live/);
      expect(await status('DELETE', `/sessions/${id}`)).toBe(204);
      await begun();
      expect(reported).toEqual([]);
    });

    it('for a session by somebody who has gone before it is there', async () => {
      let answered = () => {};
      let asked = () => {};
      const isAsked = new Promise<void>((resolve) => {
        asked = resolve;
      });
      await hosting({
        sessionOptions: (id) => ({
          connect: { model: 'm' },
          provider: far(id, {
            onCall: (call, answer) => {
              if (call.method !== 'connect') return answer.resolve();
              answered = answer.resolve;
              asked();
            },
          }),
        }),
      });
      const socket = connected();
      socket.write('POST /sessions HTTP/1.1\r\nhost: x\r\n\r\n');
      await isAsked;
      socket.destroy();
      // the host has heard of it once it has answered somebody who came later
      await status('GET', '/stats');
      await quiet();
      answered();
      while (host.supervisor.stats.ended === 0) await quiet();
      expect(host.supervisor.stats.sessions).toBe(0);
    });

    it('with ids that nobody guesses', async () => {
      await hosting();
      const ids = [await begun(), await begun()];
      for (const id of ids) expect(id).toMatch(/^run_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/);
      expect(new Set(ids).size).toBe(2);
    });

    it('while it is between two incarnations', async () => {
      await hosting({}, { restart: { type: 'transient', backoff: () => 60_000 } });
      const id = await begun();
      fars.get(id)?.fail(new TypeError('gone'));
      while (host.supervisor.stats.restarting === 0) await quiet();
      expect(await status('POST', `/sessions/${id}/input`, '{"text":"hi"}')).toBe(503);
      expect(await status('POST', `/sessions/${id}/interrupt`)).toBe(503);
      expect(await status('DELETE', `/sessions/${id}`)).toBe(204);
      expect(await status('DELETE', `/sessions/${id}`)).toBe(409);
      expect(await status('POST', `/sessions/${id}/input`, '{"text":"hi"}')).toBe(409);
    });

    it('for what the far side cannot do, or does not answer', async () => {
      await hosting({
        sessionOptions: (id) => ({
          connect: { model: 'm' },
          provider: far(id, {
            interrupt: fars.size > 0,
            // an interruption is never acknowledged, and what is sent is refused
            onCall: ({ method }, answer) =>
              method === 'send' ? answer.reject(new TypeError('deaf')) : method !== 'interrupt' && answer.resolve(),
          }),
        }),
      });
      const [first, second] = [await begun(), await begun()];
      expect(await status('POST', `/sessions/${first}/interrupt`)).toBe(501);
      expect(await status('POST', `/sessions/${second}/interrupt`)).toBe(202);
      expect(reported).toEqual([]);
      expect(await ask('POST', to(`/sessions/${first}/input`), '{"text":"hi"}')).toMatchObject({
        status: 500,
        body: '{"error":"the host has failed"}',
      });
      expect(reported).toEqual([new TypeError('deaf')]);
    });

    it('and has failed itself: nothing of why is told', async () => {
      let begins = 0;
      await hosting({
        sessionOptions: () => {
          if (begins++ === 0) throw new TypeError('secret');
          return { provider: scriptedProvider(), connect: { model: 'm' }, maxOpenCalls: -1 };
        },
      });
      const failed = { status: 500, body: '{"error":"the host has failed"}' };
      expect(await ask('POST', to('/sessions'))).toMatchObject(failed);
      const unstarted = { status: 502, body: '{"error":"the session cannot be started"}' };
      expect(await ask('POST', to('/sessions'))).toMatchObject(unstarted);
      expect(reported).toMatchObject([{ message: 'secret' }, { message: expect.stringContaining('maxOpenCalls') }]);
      expect(host.supervisor.stats.sessions).toBe(0);
    });
  });

  describe('streams', () => {
    it('a session to its end, says so to who has seen it all, and keeps the last conversations', async () => {
      await hosting({ keptConversations: 2 });
      const ids = [await begun(), await begun(), await begun()];
      const first = reader(ids[0] as string);
      for (const id of ids) {
        says(id, 'hello');
        fars.get(id)?.emit({ type: 'closed' });
        while (host.supervisor.get(id) !== undefined) await quiet();
      }
      // the first was forgotten when the third had ended
      expect(await status('GET', `/sessions/${ids[0]}/events`)).toBe(404);
      expect(host.feeds.size).toBe(2);
      expect(() => conversationOf(ids[2] as string).apply({ end: 'eof' })).toThrow(ConversationClosedError);
      const second = reader(ids[1] as string);
      expect([await second.read(), await second.read(), await first.read()]).toEqual(['ended', 'over', 'ended']);
      expect(second.conversation.state.phase).toBe('finished');
      expect(second.faults).toEqual([]);
      expect(first.faults).toEqual(['status 404']);
    });

    it('on behind the last event that a client has seen, as long as what follows is kept', async () => {
      await hosting({ keptBytes: 2_000 });
      const id = await begun();
      const client = reader(id);
      await client.read(() => client.lastEventId !== '');
      const stretch = async (words: number) => {
        for (let n = 0; n < words; n++) says(id, 'word ');
        await quiet();
        const has = bytesOf(conversationOf(id));
        await client.read(() => bytesOf(client.conversation) === has);
        expect(client.faults).toEqual([]);
      };
      await stretch(3);
      expect(client.counts).toEqual({ live: 3, resets: 1, resumed: 1 });
      await stretch(5);
      expect(client.counts).toEqual({ live: 8, resets: 1, resumed: 2 });
      await stretch(100);
      expect(client.counts).toEqual({ live: 8, resets: 2, resumed: 2 });
    });

    it('on from the oldest event that is kept, to one that has seen all before it', async () => {
      await hosting();
      const id = await begun();
      says(id, 'hello');
      await quiet();
      const client = reader(id);
      await client.read(() => client.lastEventId !== '');
      const [epoch, last] = client.lastEventId.split('-');
      const other = reader(id);
      other.lastEventId = `${epoch}-0`;
      await other.read(() => other.lastEventId === client.lastEventId);
      expect([other.counts, other.faults]).toEqual([{ live: Number(last), resets: 0, resumed: 1 }, []]);
      expect(bytesOf(other.conversation)).toBe(bytesOf(conversationOf(id)));
    });

    it('more than a session keeps for a reader', async () => {
      await hosting({}, { maxBufferedEvents: 10 });
      const id = await begun();
      for (let n = 0; n < 100; n++) says(id, 'more ');
      await quiet();
      expect(await status('POST', `/sessions/${id}/input`, '{"text":"hi"}')).toBe(202);
      expect(bytesOf(conversationOf(id)).length).toBeGreaterThan(500);
    });

    it('the state again to one that was cut off within it, or comes with an id that is none of its', async () => {
      await hosting({ keptBytes: 1 });
      const id = await begun();
      for (const text of ['a', 'b', 'c']) fars.get(id)?.emit({ type: 'input_text', text, final: true });
      await quiet();
      const client = reader(id);
      let frames = 0;
      expect(await client.read(() => ++frames === 3)).toBe('left');
      expect(client.lastEventId).toBe('');
      frames = 0;
      const whole = client.conversation;
      expect(await client.read(() => client.lastEventId !== '')).toBe('left');
      expect(client.conversation).not.toBe(whole);
      const { lastEventId } = client;
      const [epoch, number] = lastEventId.split('-');
      expect([client.faults, bytesOf(client.conversation)]).toEqual([[], bytesOf(conversationOf(id))]);
      // behind that nothing is kept, but nothing has come either
      const ids = [
        'x',
        '-',
        `${epoch}-`,
        `${epoch}-NaN`,
        `${epoch}-1.5`,
        `${epoch}-99`,
        `${epoch}--1`,
        `abc-${number}`,
      ];
      for (const wrong of [...ids, `${epoch}-0${number}`, `${epoch}-0`]) {
        const other = reader(id);
        other.lastEventId = wrong;
        await other.read(() => other.lastEventId === lastEventId);
        expect([wrong, other.counts, other.faults]).toEqual([wrong, { live: 0, resets: 1, resumed: 0 }, []]);
      }
      const last = reader(id);
      last.lastEventId = lastEventId;
      fars.get(id)?.emit({ type: 'closed' });
      while (host.supervisor.stats.sessions > 0) await quiet();
      expect(await last.read()).toBe('ended');
      expect(last.counts.resets).toBe(1);
    });

    it('H2: to those that read, while others do not, which are cut off and cost next to nothing', async () => {
      await hosting({ keptBytes: 100_000 });
      const id = await begun();
      const piece = 'x'.repeat(20_000);
      // a state that is larger than a socket takes, whatever the kernel gives it
      for (let n = 0; n < 500; n++) fars.get(id)?.emit({ type: 'input_text', text: piece, final: true });
      await quiet();
      await collect();
      const heap = memory();
      const lazy = await Promise.all(Array.from({ length: 10 }, () => silent(`/sessions/${id}/events`)));
      await collect();
      // 10 times 13 MB, if all of it waited
      expect(memory() - heap).toBeLessThan(20_000_000);
      const client = reader(id);
      const reading = client.read();
      while (client.lastEventId === '') await quiet();
      for (let n = 0; n < 50; n++) {
        fars.get(id)?.emit({ type: 'input_text', text: `${n}`.repeat(3_000), final: true });
        await quiet();
      }
      fars.get(id)?.emit({ type: 'closed' });
      expect(await reading).toBe('ended');
      expect([client.faults, client.conversation.state.phase]).toEqual([[], 'finished']);
      expect(bytesOf(client.conversation)).toBe(bytesOf(conversationOf(id)));
      // those that read at last find that they were cut off in the middle
      for (const socket of lazy) expect(await restOf(socket)).toBe(false);
    }, 60_000);

    it('H2: to one that pauses all that it has missed, as long as it is kept', async () => {
      await hosting({ keptBytes: 20_000_000 });
      const id = await begun();
      const lazy = await silent(`/sessions/${id}/events`);
      for (let n = 0; n < 100; n++) fars.get(id)?.emit({ type: 'input_text', text: 'x'.repeat(100_000), final: true });
      fars.get(id)?.emit({ type: 'closed' });
      while (host.supervisor.stats.sessions > 0) await quiet();
      expect(await restOf(lazy)).toBe(true);
    }, 60_000);

    it('to its end what can be recorded no more, and ends the session', async () => {
      await hosting();
      const id = await begun();
      const client = reader(id);
      const reading = client.read();
      while (client.lastEventId === '') await quiet();
      conversationOf(id).close();
      says(id, 'who hears me?');
      expect(await reading).toBe('ended');
      expect(await client.read()).toBe('over');
      while (host.supervisor.stats.sessions > 0) await quiet();
      expect(reported).toMatchObject([{ code: 'conversation_closed' }]);
      expect(client.faults).toEqual([]);
    });
  });

  describe('stops', () => {
    it('once, however often it is told; whoever comes meanwhile is told so', async () => {
      let close = () => {};
      const before = footprint();
      await hosting(
        { deadlineMs: 60_000, lingerMs: 60_000 },
        {
          closeTimeoutMs: 60_000,
          provider: scriptedProvider({
            onCall: (call, answer) => {
              if (call.method === 'close') close = answer.resolve;
              else answer.resolve();
            },
          }),
        },
      );
      const id = await begun();
      const stopped = host.stop();
      expect(host.stop()).toBe(stopped);
      const refused = await ask('POST', to('/sessions'));
      expect([refused.status, refused.headers.connection]).toEqual([503, 'close']);
      expect(JSON.parse(refused.body).error).toMatch(/shutting down/);
      const late = reader(id);
      const reading = late.read();
      while (!late.isConnected) await quiet();
      close();
      expect((await stopped).children).toMatchObject([{ kind: 'session', id, cut: false }]);
      expect(await host.stop()).toBe(await stopped);
      expect([await reading, late.conversation.state.phase, late.faults]).toEqual(['ended', 'finished', []]);
      // no timer of either minute
      expect(await addedTo(before)).toEqual([]);
      expect(reported).toEqual([]);
    });

    it('when clients do not take the rest, and leaves nothing', async () => {
      const before = footprint();
      await hosting({ keptBytes: 20_000_000 });
      const id = await begun();
      const sockets = await Promise.all([1, 2, 3].map(() => silent(`/sessions/${id}/events`)));
      // one that has said nothing, and one that stays in the middle of a request
      const others = [connected(), connected()];
      others[1]?.write('POST /sessions HTTP/1.1\r\nhost: x\r\n');
      await Promise.all(others.map((socket) => once(socket, 'connect')));
      for (let n = 0; n < 100; n++) fars.get(id)?.emit({ type: 'input_text', text: 'x'.repeat(100_000), final: true });
      await quiet();
      const { children } = await host.stop();
      expect(children).toMatchObject([{ id, cut: false }]);
      for (const socket of sockets) expect(await restOf(socket)).toBe(false);
      for (const socket of others) socket.destroy();
      expect(await addedTo(before)).toEqual([]);
    }, 60_000);
  });

  /** A connection that nobody but the test knows the ends of. */
  function connected(): Socket {
    return connect(Number(new URL(host.url).port), '127.0.0.1').on('error', () => {});
  }

  /** A client that asks for something and reads nothing of it, once the host has begun to say it. */
  async function silent(path: string): Promise<Socket> {
    const socket = connected();
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
    await new Promise((resolve) => socket.once('readable', resolve));
    return socket;
  }

  /** Reads what there is to its end, and says whether that is the end of the response. */
  async function restOf(socket: Socket): Promise<boolean> {
    let tail = '';
    try {
      for await (const piece of socket) tail = (tail + piece.toString('latin1')).slice(-20);
    } catch {
      return false;
    }
    return tail.endsWith('0\r\n\r\n');
  }

  function memory(): number {
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  }
});

describe('as a process', () => {
  let bundle: Awaited<ReturnType<typeof bundledHost>>;
  beforeAll(async () => {
    bundle = await bundledHost();
  }, 60_000);
  afterAll(() => bundle.remove());

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'ends by itself at %s, when all was said',
    async (signal) => {
      const host = new HostProcess(bundle.path);
      const url = await host.url();
      const { id } = JSON.parse((await ask('POST', `${url}/sessions`)).body);
      const client = new Reader(`${url}/sessions/${id}/events`);
      const reading = client.read();
      while (client.lastEventId === '') await quiet();
      await ask('POST', `${url}/sessions/${id}/input`, '{"text":"hello again"}');
      await ask('POST', `${url}/sessions/${id}/interrupt`);
      host.kill(signal);
      expect(await reading).toBe('ended');
      expect(client.conversation.state.phase).toBe('finished');
      expect(client.faults).toEqual([]);
      expect([await host.ended, host.err]).toEqual([0, '']);
      expect(host.out).toBe(`listening on ${url}\n${signal}: 1 sessions were stopped\n`);
    },
    60_000,
  );
});
