/** The example host, with the types that it has against the sources; that it has them, the tests of the documents check. */
import { fileURLToPath } from 'node:url';
import type { Conversation, ShutdownReport, SupervisedSessionOptions, Supervisor } from '../../src/index.js';

export const example = fileURLToPath(new URL('../../docs/guides/host.mjs', import.meta.url));

export type SessionOptions = Omit<SupervisedSessionOptions, 'id' | 'prepare'>;

export interface HostOptions {
  readonly sessionOptions: (id: string) => SessionOptions;
  readonly hostname?: string;
  readonly port?: number;
  readonly maxSessions?: number;
  readonly maxConcurrentTools?: number;
  readonly keptBytes?: number;
  readonly keptConversations?: number;
  readonly deadlineMs?: number;
  readonly lingerMs?: number;
  readonly report?: (error: unknown) => void;
}

export interface Feed {
  readonly conversation: Conversation;
  readonly over: Promise<void>;
}

export interface Host {
  readonly url: string;
  readonly supervisor: Supervisor;
  readonly feeds: ReadonlyMap<string, Feed>;
  stop(): Promise<ShutdownReport>;
}

// imported by its path, so that it is not checked here against a `dist/` that may be another
const module = (await import(/* @vite-ignore */ example)) as { startHost(options: HostOptions): Promise<Host> };

export const { startHost } = module;
