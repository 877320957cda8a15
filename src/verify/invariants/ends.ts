/** How a session ends, and that nothing follows: D9, D10, D11. */
import { asksFor, callNamed, type SessionInvariant, timesAsked } from './rule.js';
import { closed, closing, connecting, sessionStateNumbered } from './session-facts.js';

/** What nobody may be told and no driver be asked any more once the session is fenced. */
const notAfterTheEnd: ReadonlySet<string> = new Set([
  'deliver',
  'reportStarted',
  'reportCompleted',
  'reportRejected',
  'reportUnconfirmed',
  'reportAbandoned',
  'reportEnd',
  'requestApproval',
  'performAct',
  'stub',
  'connectDriver',
  'readEvents',
  'resolveStart',
]);

export const D9: SessionInvariant = {
  number: 'D9',
  sentence: 'nothing follows the end: no event to the host, no send, sendToolResult or abandonToolCall to the driver',
  reads: 'did, from and to of every record behind the fence',
  step(facts, { call: id, event, to, did }, _group, breaches) {
    if (facts.isRecovered) {
      const isNotice = id !== undefined && event === 'recovered';
      if (!isNotice) breaches.add('D9', 'a recovery has found this session to be gone, and it goes on');
      return;
    }
    if (!facts.isFenced) return;
    const whose = id === undefined ? 'the session' : callNamed(id);
    if (id === undefined && event !== 'recovered') {
      const next = sessionStateNumbered(to);
      if (next < closing || (facts.state === closed && next !== closed)) {
        breaches.add('D9', `the session was ${facts.stateName}, and is ${to} again`);
      }
    } else if (event === '')
      breaches.add('D9', `${callNamed(id)} is admitted though the session is ${facts.stateName}`);
    for (let index = 0; index < did.length; index++) {
      const effect = did[index]?.effect as string;
      if (!notAfterTheEnd.has(effect)) continue;
      breaches.add('D9', `${whose} asks for ${effect} though the session is ${facts.stateName}`);
    }
  },
};

export const D10: SessionInvariant = {
  number: 'D10',
  sentence:
    "the driver's close() is called at most once: 0 times when the far side closed, otherwise exactly once for a connection that was made, late ones included",
  reads: 'event, to and did (closeDriver) of the session',
  step(facts, step, _group, breaches) {
    const times = timesAsked(step, 'closeDriver');
    if (times === 0) return;
    if (facts.closes > 0 || times > 1) breaches.add('D10', 'the driver is closed twice');
    else if (facts.isFarSideClosed || step.event === 'closed') {
      breaches.add('D10', 'the driver is closed though the far side has closed');
    } else if (!facts.isConnected && step.event !== 'connected') {
      breaches.add('D10', 'the driver is closed, and there was no connection');
    }
  },
  end(facts, _group, breaches) {
    if (!facts.isFenced || !facts.isConnected || facts.isFarSideClosed || facts.closes > 0) return;
    if (facts.hasJustEnded || facts.shown.hasStepped) {
      breaches.add('D10', `the session is ${facts.stateName}, and its connection is not closed`);
    }
  },
};

export const D11: SessionInvariant = {
  number: 'D11',
  sentence:
    'session.closed resolves exactly once, from every state, within closeTimeoutMs (but for 0), whatever tool code does',
  reads: 'to and did (resolveClosed, armCloseTimeout) of the session',
  step(facts, step, _group, breaches) {
    if (step.call !== undefined) return;
    const next = sessionStateNumbered(step.to);
    const times = timesAsked(step, 'resolveClosed');
    const resolves = times > 0;
    if (times > 1 || (resolves && facts.resolutions > 0)) breaches.add('D11', 'closed resolves a second time');
    else if (resolves && next !== closed) breaches.add('D11', `closed resolves, and the session is ${step.to}`);
    else if (!resolves && next === closed && facts.state !== closed) {
      breaches.add('D11', 'the session is closed, and closed does not resolve');
    }
    if (next === closing && facts.state >= connecting && facts.state < closing && !asksFor(step, 'armCloseTimeout')) {
      breaches.add('D11', 'the session is closing without a bound on how long that may take');
    }
  },
};
