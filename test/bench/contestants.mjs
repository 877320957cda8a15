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
