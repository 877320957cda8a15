/**
 * One session in a terminal.
 *
 * - V1 what the model says goes to standard output and all else to standard error; with `json` every event goes to standard
 *   output, a line each, and nothing else does
 * - V2 the first Ctrl-C after something was said interrupts, the next one ends the session
 * - V3 a patient one says a line when the one before was answered; else it is said at once, and interrupts
 * - V4 a call that has to be approved is answered by the next line that is a yes or a no, and denied when no line can come
 * - V5 whatever ends the session ends `hold`; what goes out waits for a reader that is slow
 */
import { once } from 'node:events';
import { messageOf } from '../contract/errors.js';
import type { CallState } from '../contract/lifecycle.js';
import type { BidiTurnEvent } from '../contract/turn-event.js';
import type { Session } from '../runtime/index.js';
import { harmless } from '../scenario/timeline/text.js';
import { complain } from './output.js';

/** What a conversation came to. */
export interface Held {
  /** Everything that was said was answered to the end, and nothing went wrong. */
  readonly answered: boolean;
  /** The session was ended from here. */
  readonly byHost: boolean;
}

/** A call in one of these has its answer, or needs none. */
const answeredStates: ReadonlySet<CallState> = new Set<CallState>([
  'publishing',
  'completed',
  'rejected',
  'unconfirmed',
  'abandoned',
  'cancelled',
]);

/** See the head of the file. */
export class LiveConversation {
  readonly #session: Session;
  readonly #json: boolean;
  readonly #patient: boolean;
  /** Something was said, and the turn that answers it has not ended. */
  #awaits = false;
  /** Output since something was said, or the last call was answered. */
  #speaks = false;
  #answered = true;
  #ended = false;
  #interrupts = false;
  #linesEnded = false;
  #inLine = false;
  /** Calls that wait for a yes or a no, the oldest first. */
  readonly #asked: string[] = [];
  #waiting: (() => void)[] = [];

  constructor(session: Session, { json, patient }: { readonly json: boolean; readonly patient: boolean }) {
    this.#session = session;
    this.#json = json;
    this.#patient = patient;
  }

  /** Says the lines, shows what comes, and ends when the last line was answered, or the session ends. `release` ends the lines. */
  async hold(lines: AsyncIterable<string> | Iterable<string>, release: () => void): Promise<Held> {
    const session = this.#session;
    const aside = session.lifecycle$.subscribe((event) => {
      if (event.type === 'approval_requested') this.#asks(event.id, event.name, event.input);
      else if (event.type === 'expiring')
        this.#note(`the service ends the session in ${Math.ceil(event.inMs / 1000)} s`);
    });
    // of a list all is known that will be said
    this.#linesEnded = Array.isArray(lines);
    const saying = this.#sayAll(lines).catch((error) => {
      this.#note(`no more lines: ${messageOf(error)}`);
      return this.#close();
    });
    for await (const event of session.events()) {
      await this.#show(event);
      this.#follow(event);
    }
    this.#ended = true;
    this.#wake();
    release();
    await saying;
    aside.unsubscribe();
    const { reason, message } = await session.closed;
    const byHost = reason === 'host';
    if (!byHost) this.#note(`the session ended: ${reason}${message === undefined ? '' : `, ${message}`}`);
    return { answered: byHost && this.#answered && !this.#awaits, byHost };
  }

  /** The user has pressed Ctrl-C (V2). */
  ctrlC(): void {
    if (this.#interrupts) {
      this.#note('ends');
      void this.#close();
      return;
    }
    this.#interrupts = true;
    if (!this.#awaits && !this.#speaks) {
      this.#note('Ctrl-C again ends');
      return;
    }
    this.#note('interrupts; Ctrl-C again ends');
    this.#session.interrupt().catch((error) => this.#note(`not interrupted: ${messageOf(error)}`));
  }

  async #sayAll(lines: AsyncIterable<string> | Iterable<string>): Promise<void> {
    for await (const line of lines) {
      if (this.#ended) return;
      if (line.trim() === '') continue;
      if (!this.#answers(line)) await this.#say(line);
      if (this.#patient) await this.#until(() => !this.#awaits || this.#asked.length > 0);
    }
    this.#linesEnded = true;
    for (const id of this.#asked.splice(0)) this.#deny(id);
    await this.#until(() => !this.#awaits);
    await this.#close();
  }

  async #say(text: string): Promise<void> {
    this.#awaits = true;
    this.#speaks = false;
    this.#interrupts = false;
    try {
      await this.#session.send({ type: 'text', text });
    } catch (error) {
      this.#awaits = false;
      this.#answered = false;
      if (!this.#ended) this.#note(`not sent: ${messageOf(error)}`);
    }
  }

  async #close(): Promise<void> {
    try {
      await this.#session.close();
    } catch (error) {
      this.#note(messageOf(error));
    }
  }

  #asks(id: string, name: string, input: unknown): void {
    if (this.#linesEnded) {
      this.#note(`[${name}] denied: there is nobody to approve it`);
      this.#deny(id);
      return;
    }
    this.#asked.push(id);
    this.#note(`[${name}] ${JSON.stringify(input)}: may it? y or n`);
    this.#wake();
  }

  /** Whether a line is the answer that a call waits for (V4). */
  #answers(line: string): boolean {
    const yes = /^\s*y(es)?\s*$/i.test(line);
    if (!yes && !/^\s*no?\s*$/i.test(line)) return false;
    const id = this.#asked.shift();
    if (id === undefined) return false;
    // it may have been abandoned meanwhile: then its end was shown
    if (yes) this.#session.approve(id).catch(ignore);
    else this.#session.deny(id).catch(ignore);
    return true;
  }

  #deny(id: string): void {
    this.#session.deny(id, 'there is nobody to approve it').catch(ignore);
  }

  /** Where the conversation stands after an event. */
  #follow(event: BidiTurnEvent): void {
    switch (event.type) {
      case 'text':
      case 'audio':
      case 'tool_started':
        this.#speaks = true;
        return;
      case 'tool_completed':
      case 'tool_abandoned':
        this.#forget(event.toolUseId);
        this.#speaks = this.#callsAreOpen();
        return;
      case 'turn_complete':
        this.#speaks = false;
        // what answers the open calls is a turn of its own
        this.#awaits &&= this.#callsAreOpen();
        break;
      case 'interrupted':
        this.#speaks = false;
        this.#answered = false;
        // interrupted by a new line, which is to be answered, or by hand
        if (this.#interrupts || this.#patient) this.#awaits = false;
        break;
      case 'error':
        this.#answered = false;
        // nothing is on its way that would end the turn
        if (!this.#speaks && !this.#callsAreOpen()) this.#awaits = false;
        break;
      case 'closed':
    }
    this.#wake();
  }

  #callsAreOpen(): boolean {
    return this.#session.calls().some(({ state }) => !answeredStates.has(state));
  }

  #forget(id: string): void {
    const at = this.#asked.indexOf(id);
    if (at !== -1) this.#asked.splice(at, 1);
  }

  async #show(event: BidiTurnEvent): Promise<void> {
    if (this.#json) {
      await this.#write(`${JSON.stringify(event)}\n`);
      return;
    }
    switch (event.type) {
      case 'text':
        await this.#write(event.text.replace(/[^\n\t]+/g, harmless));
        this.#inLine = !event.text.endsWith('\n') && (event.text !== '' || this.#inLine);
        return;
      case 'turn_complete':
        await this.#endLine();
        return;
      case 'interrupted':
        await this.#endLine();
        this.#note('[interrupted]');
        return;
      case 'tool_started':
        this.#note(`[${event.toolName}]`);
        return;
      case 'tool_completed':
        this.#note(`[${event.toolName}] ${event.isError ? 'error: ' : ''}${cut(event.output)}`);
        return;
      case 'tool_abandoned':
        this.#note(`[${event.toolName}] abandoned`);
        return;
      case 'error':
        this.#note(`error: ${event.message}`);
        return;
      // there is nothing here that plays audio; the end is told of with its reason
      case 'audio':
      case 'closed':
    }
  }

  async #endLine(): Promise<void> {
    if (!this.#inLine) return;
    this.#inLine = false;
    await this.#write('\n');
  }

  /** Something beside the conversation. On a terminal it begins a line of its own. */
  #note(text: string): void {
    if (this.#inLine && process.stdout.isTTY) {
      this.#inLine = false;
      process.stdout.write('\n');
    }
    complain(harmless(text));
  }

  async #write(text: string): Promise<void> {
    if (!process.stdout.write(text)) await once(process.stdout, 'drain');
  }

  async #until(holds: () => boolean): Promise<void> {
    while (!holds() && !this.#ended) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

function cut(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

function ignore(): void {}
