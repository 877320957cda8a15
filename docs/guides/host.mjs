// @ts-check
/**
 * A host in one file: an HTTP server that supervises sessions, streams the
 * conversation of each to any number of clients as server-sent events, and
 * stops cleanly. `node docs/guides/host.mjs` runs it against a far side that
 * echoes; `docs/guides/host.md` goes through it.
 *
 *   POST   /sessions              begins a session: 201 { id }
 *   GET    /sessions/ID/events    its conversation: ResponseEvents as server-sent events, resumed by Last-Event-ID
 *   POST   /sessions/ID/input     { text } for the far side: 202
 *   POST   /sessions/ID/interrupt 202
 *   DELETE /sessions/ID           ends it: 204
 *   GET    /stats                 what the supervisor counts
 *
 * H1. A client gets every event once and in order: the state as events behind `event: reset`, then the live ones, with neither a
 *     gap nor a repeat. One that comes back goes on behind its Last-Event-ID, or, where that is kept no more, begins again.
 * H2. A client that does not read holds up nobody, and costs what its socket takes and one event beside it: it is given the next
 *     one when there is room. When what it has not had is kept no more it is cut off, and may come back.
 * H3. After `stop()` no session, no timer and no socket is left.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import {
  createConversation,
  createSupervisor,
  isCommitpointError,
  recordSession,
  SupervisedSession,
} from 'commitpoint';
import { scriptedProvider } from 'commitpoint/testing';
import { encodeSse } from 'commitpoint/wire';

/** @typedef {import('commitpoint/proto').ResponseEvent} ResponseEvent */
/** @typedef {import('node:http').IncomingMessage} Request */
/** @typedef {import('node:http').ServerResponse} Response */
/** @typedef {{ response: Response, state: Iterator<Buffer>, seen: number }} Client `seen`: the number of its last live event. */

/**
 * @typedef {object} HostOptions
 * @property {(id: string) => Omit<import('commitpoint').SupervisedSessionOptions, 'id' | 'prepare'>} sessionOptions Of a session
 *   that a client asks for.
 * @property {string} [hostname] Default: this machine alone.
 * @property {number} [port] Default: any that is free.
 * @property {number} [maxSessions] Default 1,000.
 * @property {number} [maxConcurrentTools] Over all sessions. Default 64.
 * @property {number} [keptBytes] Of the last events of one session, for clients that are slow or come back. Default 256 KiB.
 * @property {number} [keptConversations] Of sessions that have ended, for clients that want the rest. Default 100.
 * @property {number} [deadlineMs] That `stop()` gives sessions to finish, in milliseconds. Default 5,000.
 * @property {number} [lingerMs] That it gives clients then to take the last events, in milliseconds. Default 1,000.
 * @property {(error: unknown) => void} [report] Is told of what is no fault of a client. Default: `console.error`.
 */

/** The conversation of one session, and the clients that read it. */
class Feed {
  conversation = createConversation();
  /** Settles when the session has ended and its last event was published. @type {Promise<void>} */
  over = Promise.resolve();
  /** Tells the ids of this feed from those of any other. */
  #epoch = randomBytes(6).toString('hex');
  /** How many events were published: the number of the last one. */
  #last = 0;
  /** @type {Buffer[]} The last events, as frames. */
  #kept = [];
  #keptBytes = 0;
  #maxKeptBytes;
  #isOver = false;
  /** @type {Set<Client>} */
  #clients = new Set();

  /** @param {number} maxKeptBytes */
  constructor(maxKeptBytes) {
    this.#maxKeptBytes = maxKeptBytes;
  }

  /** @param {ResponseEvent} event */
  publish(event) {
    const frame = this.#frame(event, this.#last + 1);
    this.conversation.apply(event);
    this.#last++;
    this.#kept.push(frame);
    this.#keptBytes += frame.length;
    for (const client of this.#clients) this.#give(client);
    while (this.#keptBytes > this.#maxKeptBytes) this.#keptBytes -= this.#kept.shift()?.length ?? 0;
  }

  /** Nothing comes any more. */
  end() {
    this.conversation.close();
    this.#isOver = true;
    for (const client of this.#clients) this.#give(client);
  }

  /**
   * @param {Response} response
   * @param {string | undefined} lastEventId
   */
  serve(response, lastEventId) {
    const seen = Number(lastEventId?.split('-')[1]);
    const isKept = this.#idOf(seen) === lastEventId && seen <= this.#last && seen >= this.#last - this.#kept.length;
    if (this.#isOver && isKept && seen === this.#last) {
      // an EventSource takes this for "do not come back"
      response.writeHead(204).end();
      return;
    }
    const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store', connection: 'close' };
    response.writeHead(200, headers).flushHeaders();
    const state = this.#frames(isKept ? [] : this.conversation.toEvents(), this.#last);
    /** @type {Client} */
    const client = { response, state, seen: isKept ? seen : this.#last };
    this.#clients.add(client);
    response.on('drain', () => this.#give(client));
    response.on('close', () => this.#clients.delete(client));
    response.on('error', () => {});
    this.#give(client);
  }

  /**
   * What a client has not had, as far as its socket takes it.
   *
   * @param {Client} client
   */
  #give(client) {
    const { response, state } = client;
    while (!response.writableNeedDrain) {
      let { value: frame } = state.next();
      if (frame === undefined) {
        if (client.seen === this.#last) {
          if (this.#isOver) response.end();
          return;
        }
        frame = this.#kept[this.#kept.length - (this.#last - client.seen)];
        client.seen++;
      }
      if (frame === undefined) {
        response.destroy();
        return;
      }
      response.write(frame);
    }
  }

  /**
   * A state, made into frames when a client has room for them. Only the last one has an id: whoever loses the connection before
   * it has nothing to go on from, and begins again.
   *
   * @param {ResponseEvent[]} events
   * @param {number} number Of the last event that is in the state.
   * @returns {Iterator<Buffer>}
   */
  *#frames(events, number) {
    if (events.length > 0) yield Buffer.from('event: reset\ndata:\n\n');
    for (const event of events) yield this.#frame(event, event === events.at(-1) ? number : undefined);
  }

  /**
   * @param {ResponseEvent} event
   * @param {number | undefined} number
   */
  #frame(event, number) {
    return Buffer.concat([Buffer.from(number === undefined ? '' : `id: ${this.#idOf(number)}\n`), encodeSse(event)]);
  }

  /** @param {number} number */
  #idOf(number) {
    return `${this.#epoch}-${number}`;
  }
}

/** What can be asked of a place. */
const methods = new Map([
  ['/sessions', 'POST'],
  ['/sessions/ID', 'DELETE'],
  ['/sessions/ID/events', 'GET'],
  ['/sessions/ID/input', 'POST'],
  ['/sessions/ID/interrupt', 'POST'],
  ['/stats', 'GET'],
]);

/** What an error of the library means over HTTP; any other one is a fault of this host. */
const statuses = new Map([
  ['connect_aborted', 503],
  ['connect_failed', 502],
  ['connect_timeout', 504],
  ['not_supported', 501],
  ['session_close_timeout', 504],
  ['session_ended', 409],
  ['session_restarting', 503],
  ['supervisor_limit', 429],
  ['supervisor_stopping', 503],
]);

/** An answer to a request that cannot be done. */
class Refusal extends Error {
  /**
   * @param {number} status
   * @param {string} message
   * @param {Record<string, string>} headers
   */
  constructor(status, message, headers = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/**
 * Starts the server.
 *
 * @param {HostOptions} options
 */
export async function startHost(options) {
  const {
    hostname = '127.0.0.1',
    port = 0,
    maxSessions = 1000,
    maxConcurrentTools = 64,
    report = console.error,
  } = options;
  const { keptBytes = 256 * 1024, keptConversations = 100, deadlineMs = 5000, lingerMs = 1000 } = options;
  const supervisor = createSupervisor({ maxSessions, maxConcurrentTools });
  /** @type {Map<string, Feed>} */
  const feeds = new Map();
  /** @type {string[]} Sessions that have ended, the oldest first. */
  const ended = [];
  /** @type {Promise<import('commitpoint').ShutdownReport> | undefined} */
  let stopping;

  async function begin() {
    const id = `run_${randomUUID()}`;
    const feed = new Feed(keptBytes);
    const sessionOptions = {
      ...options.sessionOptions(id),
      id,
      /** @param {SupervisedSession} session */
      prepare(session) {
        // clients read what is recorded; what nobody reads would wait in the session until it overflows
        session.events$.subscribe();
        const { finished } = recordSession(session, { sink: (event) => feed.publish(event) });
        feed.over = finished.then(({ reason, error }) => {
          feed.end();
          if (reason !== 'failed') return;
          // nobody could follow it any more
          report(error);
          session.close().catch(report);
        });
      },
    };
    try {
      await supervisor.startSession(sessionOptions);
    } catch (error) {
      if (isCommitpointError(error)) throw error;
      // what a driver throws is its own
      report(error);
      throw new Refusal(502, 'the session cannot be started');
    }
    feeds.set(id, feed);
    feed.over.then(() => {
      if (ended.push(id) > keptConversations) feeds.delete(ended.shift() ?? '');
    });
    return id;
  }

  /** @param {string} id */
  function sessionOf(id) {
    const session = supervisor.get(id);
    if (session instanceof SupervisedSession) return session;
    throw new Refusal(409, 'the session has ended');
  }

  /**
   * @param {Request} request
   * @param {Response} response
   */
  async function answer(request, response) {
    const [path = ''] = (request.url ?? '').split('?');
    const [, id = '', rest = ''] = /^\/sessions\/([\w-]+)(.*)$/.exec(path) ?? [];
    const place = id === '' ? path : `/sessions/ID${rest}`;
    const allow = methods.get(place);
    if (allow === undefined) throw new Refusal(404, 'there is nothing here');
    if (allow !== request.method) throw new Refusal(405, `expected ${allow}`, { allow });
    const feed = feeds.get(id);
    if (id !== '' && feed === undefined) throw new Refusal(404, 'there is no such session');
    switch (place) {
      case '/sessions': {
        const begun = await begin();
        // whoever asked has gone, and nobody else knows of it
        if (response.destroyed) return sessionOf(begun).close();
        return json(response, 201, { id: begun });
      }
      case '/sessions/ID':
        await sessionOf(id).close();
        return response.writeHead(204).end();
      case '/sessions/ID/events':
        return feed?.serve(response, request.headers['last-event-id']?.toString());
      case '/sessions/ID/input': {
        const { text } = await bodyOf(request);
        if (typeof text !== 'string') throw new Refusal(400, 'expected { "text": … }');
        await sessionOf(id).send({ type: 'text', text });
        return json(response, 202, {});
      }
      case '/sessions/ID/interrupt':
        // a refusal comes at once; the far side takes its time, and its answer is in the conversation
        await Promise.race([sessionOf(id).interrupt(), setImmediate()]);
        return json(response, 202, {});
      case '/stats':
        return json(response, 200, supervisor.stats);
    }
  }

  /**
   * @param {Response} response
   * @param {unknown} error
   */
  function refuse(response, error) {
    const status = isCommitpointError(error) ? statuses.get(error.code) : undefined;
    if (error instanceof Refusal) json(response, error.status, { error: error.message }, error.headers);
    else if (isCommitpointError(error) && status !== undefined) json(response, status, { error: error.message });
    else {
      report(error);
      if (response.headersSent) response.destroy();
      else json(response, 500, { error: 'the host has failed' });
    }
  }

  // the kernel finds out about clients that have vanished; a request has ten seconds to be said
  const settings = { keepAlive: true, keepAliveInitialDelay: 15_000, requestTimeout: 10_000 };
  const server = createServer(settings, (request, response) => {
    if (stopping !== undefined) response.setHeader('connection', 'close');
    answer(request, response).catch((error) => refuse(response, error));
  });
  server.listen(port, hostname);
  await once(server, 'listening');
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());

  async function stopNow() {
    // whoever comes meanwhile is told 503, or gets the rest of a conversation
    const shutdown = await supervisor.shutdown({ deadlineMs });
    await Promise.all([...feeds.values()].map(({ over }) => over));
    const closed = once(server, 'close');
    server.close();
    const late = setTimeout(() => server.closeAllConnections(), lingerMs);
    await closed;
    clearTimeout(late);
    return shutdown;
  }

  return {
    url: `http://${hostname}:${address.port}`,
    supervisor,
    feeds,
    /** Ends every session and says what became of each. Calling it again gives the same. */
    stop: () => (stopping ??= stopNow()),
  };
}

/**
 * @param {Response} response
 * @param {number} status
 * @param {unknown} body
 * @param {Record<string, string>} headers
 */
function json(response, status, body, headers = {}) {
  response.writeHead(status, { ...headers, 'content-type': 'application/json' }).end(JSON.stringify(body));
}

const maxBodyBytes = 64 * 1024;

/**
 * @param {Request} request
 * @returns {Promise<Record<string, unknown>>}
 */
async function bodyOf(request) {
  const pieces = [];
  let length = 0;
  try {
    for await (const piece of request) {
      // read to its end all the same: to whoever is still writing an answer would be a reset of the connection
      length += piece.length;
      if (length <= maxBodyBytes) pieces.push(piece);
    }
  } catch {
    throw new Refusal(400, 'the body broke off');
  }
  if (length > maxBodyBytes) throw new Refusal(413, `expected at most ${maxBodyBytes} bytes`);
  try {
    // of what is no object no property is looked for
    return Object(JSON.parse(Buffer.concat(pieces).toString()));
  } catch {
    throw new Refusal(400, 'expected JSON');
  }
}

/** A far side that says again what it hears, word by word. */
function echo() {
  const far = scriptedProvider({
    interrupt: true,
    onCall(call, answer) {
      answer.resolve();
      if (call.method === 'interrupt') far.emit({ type: 'interrupted' });
      if (call.method !== 'send' || call.input.type !== 'text') return;
      for (const word of call.input.text.split(/(?<= )/)) far.emit({ type: 'text', text: word });
      far.emit({ type: 'turn_complete' });
    },
  });
  return far;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const host = await startHost({
    port: Number(process.env.PORT ?? 0),
    sessionOptions: () => ({ provider: echo, connect: { model: 'echo' }, restart: { type: 'transient' } }),
  });
  console.log(`listening on ${host.url}`);
  for (const signal of ['SIGTERM', 'SIGINT']) {
    process.once(signal, async () => {
      const { children } = await host.stop();
      console.log(`${signal}: ${children.length} sessions were stopped`);
    });
  }
}
