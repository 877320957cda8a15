/**
 * A duplex session as one writes it today without a state machine: a few flags,
 * a generation counter, two queues and detached promises. It is what the
 * benches compare with, so it is written to be read and to be right, in the
 * ordinary way (array queues, async generators), and keeps the contract:
 *
 * 1. Text, audio, `turn_complete`, `interrupted` and `error` reach the host in
 *    the far side's order.
 * 2. A tool runs detached; it never delays an event.
 * 3. An interruption abandons every call that has not begun to publish, by
 *    generation: `tool_abandoned` at that moment, the code keeps its signal,
 *    and what it answers later goes nowhere.
 * 4. Entering `sendToolResult` is the commit point: no interruption recalls it.
 * 5. `close()` is a fence: no event to the host and no result to the driver
 *    after it (but for an event that a generator has already yielded and that
 *    is on its way to the reader), and the signal of all code that runs is
 *    aborted.
 * 6. A call id that was seen before ends the session; nothing runs twice.
 *
 * One loop owns the state. Whatever happens (an event of the far side, a tool
 * that settled, a result that was accepted) goes through the inbox, and the
 * loop takes one thing at a time. What the host is told goes to the outbox, so
 * that a host that reads slowly holds up nothing. (Without an inbox everything
 * is handled where it happens, which a single thread allows too. The benches
 * show that leaner form beside this one.)
 *
 * Left out, because it would only slow this loop down: places for tools,
 * approvals, timeouts, bounds on the queues, a journal, an inspector, a record
 * of what became of the calls.
 */

/** @typedef {import('commitpoint').BidiEvent} BidiEvent */
/** @typedef {import('commitpoint').BidiTurnEvent} BidiTurnEvent */
/** @typedef {import('commitpoint').BidiSession} BidiSession */
/** @typedef {import('commitpoint').SessionId} SessionId */
/** @typedef {import('commitpoint').TurnId} TurnId */
/** @typedef {import('commitpoint').Tool} Tool */
/** @typedef {{ id: string, name: string, generation: number, publishing: boolean }} Call */
/**
 * @typedef {| BidiEvent
 *   | { type: 'tool_settled', call: Call, output: string, isError: boolean }
 *   | { type: 'result_accepted', call: Call, output: string, isError: boolean }
 *   | { type: 'result_refused', call: Call, message: string }
 *   | { type: 'stream_ended', message: string }} InboxItem
 */

/**
 * Items in, `for await` out.
 * @template T
 */
class AsyncQueue {
  /** @type {T[]} */
  #items = [];
  /** @type {(() => void) | null} */
  #wake = null;
  #ended = false;

  /** @param {T} item */
  push(item) {
    if (this.#ended) return;
    this.#items.push(item);
    this.#notify();
  }

  /** What waits is still delivered. */
  end() {
    this.#ended = true;
    this.#notify();
  }

  /** What waits is thrown away. */
  cut() {
    this.#items = [];
    this.end();
  }

  #notify() {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }

  /** @returns {AsyncGenerator<T, void, undefined>} */
  async *[Symbol.asyncIterator]() {
    for (;;) {
      while (this.#items.length > 0) yield/** @type {T} */ (this.#items.shift());
      if (this.#ended) return;
      await new Promise((/** @type {(nothing: void) => void} */ resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

class HandWrittenSession {
  /** @type {AsyncQueue<InboxItem> | null} */
  #inbox;
  /** @type {AsyncQueue<BidiTurnEvent>} */
  #outbox = new AsyncQueue();
  /** @type {Set<string>} */
  #seen = new Set();
  /** @type {Map<string, Call>} */
  #open = new Map();
  #generation = 0;
  #closed = false;
  #driver;
  #tools;
  #lifetime;
  #sessionId;
  #turnId;

  /**
   * @param {BidiSession} driver
   * @param {Map<string, Tool>} tools
   * @param {AbortController} lifetime
   * @param {SessionId} sessionId
   * @param {TurnId} turnId
   * @param {boolean} inbox
   */
  constructor(driver, tools, lifetime, sessionId, turnId, inbox) {
    this.#driver = driver;
    this.#tools = tools;
    this.#lifetime = lifetime;
    this.#sessionId = sessionId;
    this.#turnId = turnId;
    this.#inbox = inbox ? new AsyncQueue() : null;
    void this.#pump();
    if (this.#inbox !== null) void this.#loop(this.#inbox);
  }

  /** @returns {AsyncIterable<BidiTurnEvent>} */
  events() {
    return this.#outbox;
  }

  /** @param {import('commitpoint').BidiInput} input */
  async send(input) {
    if (this.#closed) throw new Error('session closed');
    await this.#driver.send(input);
  }

  async close() {
    if (this.#closed) return;
    this.#finish();
    this.#outbox.cut();
    await this.#driver.close();
  }

  #finish() {
    this.#closed = true;
    this.#generation += 1;
    this.#open.clear();
    this.#lifetime.abort();
    this.#inbox?.cut();
    this.#outbox.end();
  }

  async #pump() {
    let message = 'the event stream ended';
    try {
      for await (const event of this.#driver.events()) this.#take(event);
    } catch (error) {
      message = messageOf(error);
    }
    this.#take({ type: 'stream_ended', message });
  }

  /** @param {InboxItem} item */
  #take(item) {
    if (this.#inbox !== null) this.#inbox.push(item);
    else if (!this.#closed) this.#handle(item);
  }

  /** @param {AsyncQueue<InboxItem>} inbox */
  async #loop(inbox) {
    for await (const item of inbox) {
      if (this.#closed) return;
      this.#handle(item);
    }
  }

  /** @param {InboxItem} item */
  #handle(item) {
    const sessionId = this.#sessionId;
    const turnId = this.#turnId;
    switch (item.type) {
      case 'text':
        this.#outbox.push({ type: 'text', sessionId, turnId, text: item.text });
        break;
      case 'audio':
        this.#outbox.push({ type: 'audio', sessionId, turnId, data: item.data, mediaType: item.mediaType });
        break;
      case 'turn_complete':
        this.#outbox.push({ type: 'turn_complete', sessionId, turnId });
        break;
      case 'interrupted':
        this.#outbox.push({ type: 'interrupted', sessionId, turnId });
        this.#interrupt();
        break;
      case 'tool_call':
        this.#admit(item);
        break;
      case 'tool_settled':
        if (item.call.generation !== this.#generation) break;
        item.call.publishing = true;
        void this.#publish(item.call, item.output, item.isError);
        break;
      case 'result_accepted': {
        const { call, output, isError } = item;
        this.#open.delete(call.id);
        this.#outbox.push({
          type: 'tool_completed',
          sessionId,
          turnId,
          toolUseId: call.id,
          toolName: call.name,
          output,
          isError,
        });
        break;
      }
      case 'result_refused':
        this.#open.delete(item.call.id);
        this.#outbox.push({ type: 'error', sessionId, turnId, message: `call ${item.call.id}: ${item.message}` });
        break;
      case 'error':
        this.#outbox.push({ type: 'error', sessionId, turnId, message: item.message });
        break;
      case 'closed':
        this.#outbox.push({
          type: 'closed',
          sessionId,
          turnId,
          ...(item.reason === undefined ? {} : { reason: item.reason }),
        });
        this.#finish();
        break;
      case 'stream_ended':
        this.#fail(item.message);
        break;
    }
  }

  #interrupt() {
    this.#generation += 1;
    for (const call of this.#open.values()) {
      if (call.publishing) continue;
      this.#open.delete(call.id);
      this.#outbox.push({
        type: 'tool_abandoned',
        sessionId: this.#sessionId,
        turnId: this.#turnId,
        toolUseId: call.id,
        toolName: call.name,
      });
      this.#driver.abandonToolCall?.(call.id).catch(() => {});
    }
  }

  /** @param {Extract<BidiEvent, { type: 'tool_call' }>} event */
  #admit(event) {
    if (this.#seen.has(event.id)) return this.#fail(`call ${event.id} came twice`);
    this.#seen.add(event.id);
    const call = { id: event.id, name: event.name, generation: this.#generation, publishing: false };
    this.#open.set(call.id, call);
    this.#outbox.push({
      type: 'tool_started',
      sessionId: this.#sessionId,
      turnId: this.#turnId,
      toolUseId: call.id,
      toolName: call.name,
    });
    void this.#run(call, event.arguments);
  }

  /**
   * @param {Call} call
   * @param {string} text
   */
  async #run(call, text) {
    let output = '';
    let isError = false;
    try {
      const tool = this.#tools.get(call.name);
      if (tool === undefined) throw new Error(`unknown tool ${call.name}`);
      const verdict = await tool.validate(JSON.parse(text === '' ? '{}' : text));
      if (!verdict.ok) throw new Error(verdict.problem);
      if (call.generation !== this.#generation) return;
      const value = await tool.execute(/** @type {never} */ (verdict.value), {
        signal: this.#lifetime.signal,
        toolUseId: call.id,
        sessionId: this.#sessionId,
        turnId: this.#turnId,
      });
      output = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
    } catch (error) {
      output = messageOf(error);
      isError = true;
    }
    this.#take({ type: 'tool_settled', call, output, isError });
  }

  /**
   * @param {Call} call
   * @param {string} output
   * @param {boolean} isError
   */
  async #publish(call, output, isError) {
    try {
      await this.#driver.sendToolResult(call.id, output, isError);
    } catch (error) {
      this.#take({ type: 'result_refused', call, message: messageOf(error) });
      return;
    }
    this.#take({ type: 'result_accepted', call, output, isError });
  }

  /** @param {string} message */
  #fail(message) {
    this.#outbox.push({ type: 'error', sessionId: this.#sessionId, turnId: this.#turnId, message });
    this.#finish();
    this.#driver.close().catch(() => {});
  }
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

let sessions = 0;

/**
 * Opens a session. Rejects with the driver's own error when it cannot connect.
 * @param {object} options
 * @param {import('commitpoint').BidiProvider} options.provider
 * @param {readonly Tool[]} [options.tools]
 * @param {{ model: string, system?: string }} options.connect
 * @param {boolean} [options.inbox] Default `true`.
 */
export async function startHandWrittenSession({ provider, tools = [], connect, inbox = true }) {
  const lifetime = new AbortController();
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const driver = await provider.connect({
    ...connect,
    signal: lifetime.signal,
    tools: tools.map(({ name, description, parameters }) => ({
      type: 'function',
      function: { name, description, parameters },
    })),
  });
  sessions += 1;
  const sessionId = /** @type {SessionId} */ (`ses_hand_${sessions}`);
  const turnId = /** @type {TurnId} */ (`turn_hand_${sessions}`);
  return new HandWrittenSession(driver, byName, lifetime, sessionId, turnId, inbox);
}
