/** A client of the example host: asks over a connection of its own, reads server-sent events by the letter of their ids, and folds them. */
import { get, type IncomingMessage, request } from 'node:http';
import { type Conversation, createConversation } from '../../src/index.js';
import { decodeSse, encodeSse } from '../../src/wire/index.js';

/** What the host said. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Asks for something, on a connection that is closed afterwards. */
export function ask(method: string, url: string, body?: string | Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asking = request(url, { method, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
      response.on('error', reject);
    });
    asking.on('error', reject);
    asking.end(body);
  });
}

/** A conversation as bytes: the same for the same. */
export function bytesOf(conversation: Conversation): string {
  return Buffer.concat(conversation.toEvents().map(encodeSse)).toString();
}

/** How one reading of the events ended: `over` is a 204, `cut` a connection that broke. */
export type Reading = 'left' | 'ended' | 'cut' | 'over';

export class Reader {
  conversation = createConversation();
  /** As an EventSource keeps it. */
  lastEventId = '';
  /** What the host did wrong. */
  readonly faults: string[] = [];
  readonly counts = { live: 0, resets: 0, resumed: 0 };
  /** Of the connection at hand. */
  isConnected = false;
  readonly #url: string;
  /** Whether the next frame is the first one of a connection that had something to go on from. */
  #isFirst = false;
  #isInState = false;
  #highest = 0;

  constructor(url: string) {
    this.#url = url;
  }

  /** Connects, and reads until the host ends it; or until `leaves`, which is asked after each event. */
  async read(leaves = () => false): Promise<Reading> {
    const headers = this.lastEventId === '' ? {} : { 'last-event-id': this.lastEventId };
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(this.#url, { agent: false, headers }, resolve).on('error', reject);
    });
    if (response.statusCode === 204) {
      response.resume();
      return 'over';
    }
    if (response.statusCode !== 200) this.faults.push(`status ${response.statusCode}`);
    this.isConnected = true;
    this.#isFirst = this.lastEventId !== '';
    let text = '';
    try {
      for await (const piece of response.setEncoding('latin1')) {
        text += piece;
        for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
          await this.#take(text.slice(0, end));
          text = text.slice(end + 2);
          if (leaves()) return 'left';
        }
      }
      return 'ended';
    } catch {
      return 'cut';
    } finally {
      this.isConnected = false;
      response.destroy();
    }
  }

  async #take(frame: string): Promise<void> {
    const fields = new Map(frame.split('\n').map((line) => [line.replace(/:.*/, ''), line.replace(/^\w*: ?/, '')]));
    const id = fields.get('id');
    if (this.#isFirst && !fields.has('event')) this.counts.resumed++;
    this.#isFirst = false;
    if (id !== undefined) this.#identified(id);
    if (fields.get('event') === 'reset') {
      this.conversation = createConversation();
      this.counts.resets++;
      this.#isInState = true;
      return;
    }
    if (id === undefined && !this.#isInState) this.faults.push('a live event without an id');
    if (id !== undefined) this.#isInState = false;
    for await (const event of decodeSse([Buffer.from(`${frame}\n\n`)])) this.conversation.apply(event);
    const [diagnostic] = this.conversation.state.diagnostics;
    if (diagnostic !== undefined) this.faults.push(`${diagnostic.code} at ${id}`);
  }

  #identified(id: string): void {
    const before = this.lastEventId;
    this.lastEventId = id;
    const number = Number(id.split('-')[1]);
    if (this.#isInState ? number < this.#highest : number !== this.#highest + 1) {
      this.faults.push(`${id} after ${before === '' ? this.#highest : before}`);
    }
    if (!this.#isInState) this.counts.live++;
    this.#highest = number;
  }
}
