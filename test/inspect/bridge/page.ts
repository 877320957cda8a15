/** What the tests of the bridge share: pages that read what it sends, and sockets held in the hand. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createInspector, createWebSocketReceiver, type StatelyInspectionEvent } from '@statelyai/inspect';
import { WebSocket, WebSocketServer } from 'ws';
import type { InspectionMessage, InspectionSocket } from '../../../src/inspect/index.js';
import { defineTool } from '../../../src/runtime/index.js';
import { quiet } from '../../../src/testing/quiet.js';
import { type Held, held } from '../../runtime/stage.js';

/** What `send` of a bridge was given. */
export function page() {
  const texts: string[] = [];
  return {
    send: (text: string) => {
      texts.push(text);
    },
    texts,
    get messages(): InspectionMessage[] {
      return texts.map((text) => JSON.parse(text) as InspectionMessage);
    },
  };
}

/** The stock inspector, and what it would send to its page. */
export function stockInspector() {
  const sent: StatelyInspectionEvent[] = [];
  const { inspect } = createInspector({ send: (event) => sent.push(event), start: () => {}, stop: () => {} });
  return {
    inspect,
    /** It puts each event off with a timer, so one that is set now comes after them. */
    async received(): Promise<InspectionMessage[]> {
      await quiet();
      await new Promise((resolve) => setTimeout(resolve, 1));
      return sent.map((event) => JSON.parse(JSON.stringify(event)) as InspectionMessage);
    },
  };
}

/** A real server on loopback that passes on what one client says to all others, and the stock receiver as one of them. */
export async function stockReceiver() {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  server.on('connection', (socket) => {
    socket.on('message', (message) => {
      for (const client of server.clients) if (client !== socket) client.send(message.toString());
    });
  });
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const received: InspectionMessage[] = [];
  let onMessage = () => {};
  const receiver = createWebSocketReceiver({ server: url });
  receiver.subscribe((event) => {
    received.push(JSON.parse(JSON.stringify(event)) as InspectionMessage);
    onMessage();
  });
  await once(server, 'connection');
  return {
    received,
    /** A socket of the package `ws` that is connecting. */
    socket: () => new WebSocket(url),
    /** Resolves when what was received has it. */
    until: (isThere: (messages: readonly InspectionMessage[]) => boolean) =>
      new Promise<void>((resolve) => {
        onMessage = () => {
          if (isThere(received)) resolve();
        };
        onMessage();
      }),
    async stop() {
      for (const client of server.clients) client.terminate();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type Listener = Parameters<InspectionSocket['addEventListener']>[1];

/** A socket held in the hand: it is in the state that the test puts it in. */
export class HandSocket implements InspectionSocket {
  readyState = 1;
  bufferedAmount = 0;
  /** Thrown by the next sends. */
  broken: Error | undefined;
  /** Whether what is sent stays unsent. */
  stalls = false;
  readonly texts: string[] = [];
  readonly #listeners: [string, Listener][] = [];

  send(text: string): void {
    if (this.broken !== undefined) throw this.broken;
    if (this.stalls) this.bufferedAmount += text.length;
    this.texts.push(text);
  }

  addEventListener(type: string, listener: Listener): void {
    this.#listeners.push([type, listener]);
  }

  turns(type: 'open' | 'close' | 'error', readyState: number): void {
    this.readyState = readyState;
    for (const [of, listener] of this.#listeners) if (of === type) listener({ type });
  }

  get messages(): InspectionMessage[] {
    return this.texts.map((text) => JSON.parse(text) as InspectionMessage);
  }
}

/** A tool whose code the test settles. */
export function slow() {
  const code = new Map<string, Held<string>>();
  const tool = defineTool({
    name: 'slow',
    description: '',
    input: {},
    execute: (_, { toolUseId }) => {
      const own = held<string>();
      code.set(toolUseId, own);
      return own.promise;
    },
  });
  return { tools: [tool], finish: (id: string, value = '') => code.get(id)?.resolve(value) };
}

export type Sent<Type extends InspectionMessage['type']> = Extract<InspectionMessage, { type: Type }>;

export const ofType = <Type extends InspectionMessage['type']>(messages: readonly InspectionMessage[], type: Type) =>
  messages.filter((message): message is Sent<Type> => message.type === type);

export const namesOf = (messages: readonly InspectionMessage[]) =>
  ofType(messages, '@xstate.actor').map(({ name }) => name);

/** The one actor that was announced under a name. */
export function actorNamed(messages: readonly InspectionMessage[], name: string): Sent<'@xstate.actor'> {
  const found = ofType(messages, '@xstate.actor').filter((message) => message.name === name);
  if (found.length !== 1) throw new RangeError(`${found.length} actors are called ${name}`);
  return found[0] as Sent<'@xstate.actor'>;
}

export const eventsOf = (messages: readonly InspectionMessage[], sessionId: string) =>
  ofType(messages, '@xstate.event')
    .filter((message) => message.sessionId === sessionId)
    .map(({ event }) => event.type);

export const statesOf = (messages: readonly InspectionMessage[], sessionId: string) =>
  ofType(messages, '@xstate.snapshot')
    .filter((message) => message.sessionId === sessionId)
    .map(({ snapshot }) => snapshot.value);
