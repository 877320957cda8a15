// @ts-check
/**
 * A host in one file: an HTTP server that supervises sessions, streams the
 * conversation of each to any number of clients as server-sent events, and
 * stops cleanly. `node docs/guides/host.mjs` runs it against a far side that
 * echoes; `docs/guides/host.md` goes through it.
 *
 *   POST   /sessions              begins a session: 201 { id }
 *   GET    /sessions              those that live
 *   GET    /sessions/ID/events    its conversation: ResponseEvents as server-sent events, resumed by Last-Event-ID
 *   POST   /sessions/ID/input     { text } for the far side: 202
 *   POST   /sessions/ID/interrupt 202
 *   DELETE /sessions/ID           ends it: 204
 *   GET    /stats                 what the supervisor counts
 *
 * H1. A client sees every event once and in order: the state as events, then the live ones, with neither a gap nor a repeat; one
 *     that comes back within the last `keptEvents` goes on behind its Last-Event-ID, any other one is told `event: reset` and
 *     begins with the state again.
 * H2. A client that reads slowly holds up nobody and costs at most `maxUnreadBytes`: it is cut off, and may come back.
 * H3. After `stop()` no socket, no timer and no session is left.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';
import { CommitpointError, createSupervisor, recordSession, SupervisedSession } from 'commitpoint';
import { scriptedProvider } from 'commitpoint/testing';
import { encodeSse } from 'commitpoint/wire';

/** @typedef {import('node:http').IncomingMessage} Request */
/** @typedef {import('node:http').ServerResponse} Response */
/** @typedef {import('commitpoint').SupervisedSessionOptions} SessionOptions */

/**
 * @typedef {object} HostOptions
 * @property {(id: string) => Omit<SessionOptions, 'id'>} sessionOptions Of a session that a client asks for.
 * @property {number} [port] Default: any that is free.
 * @property {number} [maxSessions] Default 1,000.
 * @property {number} [maxConcurrentTools] Over all sessions. Default 64.
 * @property {number} [keptEvents] Of one session, for clients that come back. Default 1,024.
 * @property {number} [keptConversations] Of sessions that have ended, for clients that want to read the rest. Default 100.
 * @property {number} [maxUnreadBytes] Of one client. Default 1 MiB.
 * @property {number} [deadlineMs] That `stop()` gives sessions to finish, in milliseconds. Default 5,000.
 */

const maxBodyBytes = 64 * 1024;

/** The conversation of one session, and the clients that read it. */
class Feed {
  /** Ids of another process, or of another session of the same name, are known as such. */
  #epoch = randomBytes(6).toString('hex');
  #last = 0;
  /** @type {Buffer[]} The last events; the newest has the number `#last`. */
  #kept = [];
  /** @type {Set<Response>} */
  #clients = new Set();
  #isOver = false;
  #conversation;
  #options;

  /**
   * @param {import('commitpoint').Conversation} conversation
   * @param {{ keptEvents: number, maxUnreadBytes: number }} options
   */
  constructor(conversation, options) {
    this.#conversation = conversation;
    this.#options = options;
  }

  /** @param {import('commitpoint/proto').ResponseEvent} event */
  publish(event) {
    this.#conversation.apply(event);
    this.#last++;
    const frame = this.#framed(event, this.#last);
    this.#kept.push(frame);
    if (this.#kept.length > this.#options.keptEvents) this.#kept.shift();
    for (const client of this.#clients) this.#write(client, frame);
  }

  /** Nothing comes any more. */
  end() {
    this.#isOver = true;
    for (const client of this.#clients) client.end();
    this.#clients.clear();
  }

  /**
   * @param {Response} client
   * @param {string | undefined} lastEventId
   */
  serve(client, lastEventId) {
    const seen = this.#numberOf(lastEventId);
    if (this.#isOver && seen === this.#last) {
      // what an EventSource takes for "do not come back"
      client.writeHead(204).end();
      return;
    }
    client.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store', connection: 'close' });
    client.on('error', () => {});
    for (const frame of this.#missing(seen, lastEventId)) client.write(frame);
    if (this.#isOver) {
      client.end();
      return;
    }
    // from the state to here nothing was awaited, so that nothing has come in between
    this.#clients.add(client);
    client.on('close', () => this.#clients.delete(client));
  }

  /**
   * @param {number | undefined} seen
   * @param {string | undefined} lastEventId
   * @returns {Iterable<Buffer | string>}
   */
  #missing(seen, lastEventId) {
    if (seen !== undefined && this.#last - seen <= this.#kept.length) {
      return seen === this.#last ? [': nothing new\n\n'] : this.#kept.slice(seen - this.#last);
    }
    const state = this.#conversation.toEvents();
    // only the last one has an id: a client that loses the connection before it must begin again
    const frames = state.map((event, index) =>
      this.#framed(event, index === state.length - 1 ? this.#last : undefined),
    );
    return [lastEventId === undefined ? ': welcome\n\n' : 'event: reset\ndata:\n\n', ...frames];
  }

  /** @param {string | undefined} lastEventId */
  #numberOf(lastEventId) {
    const [epoch, number] = lastEventId?.split('-') ?? [];
    const seen = Number(number);
    return epoch === this.#epoch && Number.isInteger(seen) && seen >= 0 && seen <= this.#last ? seen : undefined;
  }

  /**
   * @param {import('commitpoint/proto').ResponseEvent} event
   * @param {number | undefined} number
   */
  #framed(event, number) {
    const id = number === undefined ? '' : `id: ${this.#epoch}-${number}\n`;
    return Buffer.concat([Buffer.from(id), encodeSse(event)]);
  }

  /**
   * @param {Response} client
   * @param {Buffer} frame
   */
  #write(client, frame) {
    client.write(frame);
    if (client.writableLength <= this.#options.maxUnreadBytes) return;
    this.#clients.delete(client);
    client.destroy();
  }
}

/** An answer to a request that cannot be done. */
class Refusal {
  /**
   * @param {number} status
   * @param {string} message
   */
  constructor(status, message) {
    this.status = status;
    this.message = message;
  }
}

/** What an error of the library means over HTTP. */
const statusOf = new Map([
  ['supervisor_limit', 429],
  ['supervisor_stopping', 503],
  ['session_restarting', 503],
  ['session_ended', 409],
  ['invalid_input', 400],
  ['not_supported', 501],
]);

/**
 * Starts the server.
 *
 * @param {HostOptions} options
 * @returns {Promise<{ url: string, supervisor: import('commitpoint').Supervisor, stop(): Promise<import('commitpoint').ShutdownReport> }>}
 */
export async function startHost(options) {
  const { maxSessions = 1000, maxConcurrentTools = 64, deadlineMs = 5000, port = 0 } = options;
  const { keptEvents = 1024, keptConversations = 100, maxUnreadBytes = 1024 * 1024 } = options;
  const supervisor = createSupervisor({ maxSessions, maxConcurrentTools });
  /** @type {Map<string, Feed>} The oldest first. */
  const feeds = new Map();
  /** @type {Set<Promise<unknown>>} Recordings that have not written their last event. */
  const recordings = new Set();

  async function begin() {
    const id = `run_${randomBytes(9).toString('hex')}`;
    // the conversation first: at a shutdown children stop in reverse order, and a session has something to say until its end
    const conversation = supervisor.createConversation({ id: `con_${id}` });
    const feed = new Feed(conversation, { keptEvents, maxUnreadBytes });
    try {
      await supervisor.startSession({
        ...options.sessionOptions(id),
        id,
        prepare(session) {
          const { finished } = recordSession(session, {
            sink: (event) => feed.publish(event),
            conversationId: conversation.id,
          });
          const over = finished.then(() => {
            feed.end();
            conversation.close();
            recordings.delete(over);
            forget();
          });
          recordings.add(over);
        },
      });
    } catch (error) {
      conversation.close();
      throw error;
    }
    feeds.set(id, feed);
    return id;
  }

  /** Keeps no more than so many conversations of sessions that have ended. */
  function forget() {
    let ended = feeds.size - recordings.size - keptConversations;
    for (const id of feeds.keys()) {
      if (ended <= 0) return;
      if (supervisor.get(id) !== undefined) continue;
      feeds.delete(id);
      ended--;
    }
  }

  /** @param {string} id */
  function sessionOf(id) {
    const session = supervisor.get(id);
    if (session instanceof SupervisedSession) return session;
    throw feeds.has(id) ? new Refusal(409, 'the session has ended') : new Refusal(404, 'there is no such session');
  }

  /**
   * @param {Request} request
   * @param {Response} response
   */
  async function answer(request, response) {
    const { pathname } = new URL(request.url ?? '/', 'http://host');
    const [, place, id = '', what = ''] = pathname.split('/');
    const act = `${request.method} /${place}${id === '' ? '' : '/ID'}${what === '' ? '' : `/${what}`}`;
    switch (act) {
      case 'POST /sessions':
        return json(response, 201, { id: await begin() });
      case 'GET /sessions':
        return json(response, 200, { sessions: [...feeds.keys()].filter((known) => supervisor.get(known)) });
      case 'GET /stats':
        return json(response, 200, supervisor.stats);
      case 'GET /sessions/ID/events': {
        const feed = feeds.get(id);
        if (feed === undefined) throw new Refusal(404, 'there is no such session');
        return feed.serve(response, request.headers['last-event-id']?.toString());
      }
      case 'POST /sessions/ID/input': {
        const session = sessionOf(id);
        const { text } = await bodyOf(request);
        await session.send({ type: 'text', text });
        return json(response, 202, {});
      }
      case 'POST /sessions/ID/interrupt':
        // the answer is in the conversation: an interruption takes as long as the far side takes
        sessionOf(id).interrupt();
        return json(response, 202, {});
      case 'DELETE /sessions/ID':
        await sessionOf(id).close();
        response.writeHead(204).end();
        return;
      default:
        throw new Refusal(404, 'there is nothing here');
    }
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error) => {
      const status =
        error instanceof Refusal
          ? error.status
          : error instanceof CommitpointError
            ? (statusOf.get(error.code) ?? 502)
            : 502;
      if (response.headersSent) response.destroy();
      else json(response, status, { error: error instanceof Refusal ? error.message : String(error) });
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());

  async function stop() {
    const closed = once(server, 'close');
    server.close();
    const report = await supervisor.shutdown({ deadlineMs });
    await Promise.all(recordings);
    // the last events are on their way; whoever has not taken them in a second will not
    const late = setTimeout(() => server.closeAllConnections(), 1000);
    server.closeIdleConnections();
    await closed;
    clearTimeout(late);
    return report;
  }

  return { url: `http://127.0.0.1:${address.port}`, supervisor, stop };
}

/**
 * @param {Response} response
 * @param {number} status
 * @param {unknown} body
 */
function json(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** @param {Request} request */
async function bodyOf(request) {
  let text = '';
  for await (const piece of request.setEncoding('utf8')) {
    text += piece;
    if (text.length > maxBodyBytes) throw new Refusal(413, `expected at most ${maxBodyBytes} bytes`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(400, 'expected JSON');
  }
}

/** A far side that says again what it hears, word by word. */
function echoing() {
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

const isMain = process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href;
if (isMain) {
  const host = await startHost({
    port: Number(process.env.PORT ?? 0),
    sessionOptions: () => ({ provider: echoing, connect: { model: 'echo' }, restart: { type: 'transient' } }),
  });
  console.log(`listening on ${host.url}`);
  for (const signal of ['SIGTERM', 'SIGINT']) {
    process.once(signal, async () => {
      const { children } = await host.stop();
      console.log(`${signal}: ${children.length} children were stopped`);
    });
  }
}
