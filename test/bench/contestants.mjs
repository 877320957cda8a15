import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startFloor } from './floor.mjs';
import { startHandWrittenSession } from './hand-written-loop.mjs';

/**
 * What a bench needs of a session, whoever made it.
 * @typedef {object} Session
 * @property {() => AsyncIterable<{ readonly type: string }>} events
 * @property {() => Promise<void>} close
 */
/**
 * @typedef {object} StartOptions
 * @property {import('commitpoint').BidiProvider} provider
 * @property {readonly import('commitpoint').Tool[]} [tools]
 * @property {{ model: string }} connect
 * @property {number} [maxBufferedEvents] Only for those who have a bound.
 */
/** @typedef {(options: StartOptions) => Promise<Session>} Start */

/**
 * How a contestant opens a session. Each is loaded only where it runs, so that
 * nobody's code warms up, or weighs on, somebody else's process.
 * @param {string} name
 * @returns {Promise<Start>}
 */
export async function startOf(name) {
  switch (name) {
    case 'commitpoint':
      return (await import('commitpoint')).startSession;
    case 'commitpoint, journal in memory':
    case 'commitpoint, journal in a file':
    case 'commitpoint, durable journal':
      return startJournaled(name);
    case 'hand-written':
      return startHandWrittenSession;
    case 'hand-written, no inbox':
      return (options) => startHandWrittenSession({ ...options, inbox: false });
    case 'floor':
      return startFloor;
    case 'openai-agents':
      return () =>
        Promise.reject(new TypeError('openai-agents has sessions of another shape: see work/openai-agents-calls.mjs'));
    default:
      throw new TypeError(`no contestant is called ${name}`);
  }
}

/**
 * Sessions that record what they do, payloads hashed; all of a process in one journal.
 * @param {string} name
 * @returns {Promise<Start>}
 */
async function startJournaled(name) {
  const { startSession } = await import('commitpoint');
  if (name === 'commitpoint, journal in memory') {
    const { memoryJournal } = await import('commitpoint/journal');
    return (options) => startSession({ ...options, journal: memoryJournal({ maxRecords: 100_000 }) });
  }
  const { fileJournal } = await import('commitpoint/journals/file');
  const folder = mkdtempSync(join(tmpdir(), 'commitpoint-bench-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const journal = await fileJournal(join(folder, 'journal'), { durable: name === 'commitpoint, durable journal' });
  return (options) => startSession({ ...options, journal });
}
