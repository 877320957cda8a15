/** D9, D10, D11, D14, §5 *End* and *Refusals*, and late outcomes. */
import {
  CallTimeoutError,
  ConnectAbortedError,
  messageOf,
  SessionCloseTimeoutError,
  SessionEndedError,
} from '../../../src/contract/errors.js';
import type { Fact } from './log.js';
import type { Story } from './story.js';

export function checkEnd(story: Story): string[] {
  const findings: string[] = [];
  const { reports, report, reason, fence, facts, run } = story;
  if (reports.length !== 1) findings.push(`D11: \`closed\` resolved ${reports.length} times`);
  if (report === undefined) return findings;

  // D9
  for (const fact of facts.slice(fence + 1)) {
    const isEvent = 'event' in fact && story.plan.readers.who !== 'late subscriber';
    const isCall = 'driver' in fact && fact.driver !== 'close' && fact.driver !== 'connect';
    const isStart = 'code' in fact && fact.is === 'started';
    if (isEvent || isCall || isStart) findings.push(`D9: after the end came ${inWords(fact)}`);
  }
  // what a loop had been given before may be read later: an event in that era, and those that it asked for ahead
  const lastEra = facts[fence]?.era ?? 0;
  const readLater = story.all('read').filter(({ era }) => era > lastEra).length;
  if (story.endsSilently && readLater > story.plan.readers.ahead - 1) {
    findings.push(`D9: after a close or an abort of the host a loop still read ${readLater} events`);
  }
  const [closedAt] = story.all('closed');
  for (const { lifecycle, index } of story.all('lifecycle')) {
    if (closedAt !== undefined && index > closedAt.index)
      findings.push(`D9: after \`closed\` came ${JSON.stringify(lifecycle)}`);
  }

  // D10
  const closes = story.driverCalls('close').length;
  const isConnected = story.all('answered').some(({ answered, accepts }) => answered === 'connect' && accepts);
  const due = isConnected && reason !== 'far_side' ? 1 : 0;
  if (closes !== due) findings.push(`D10: the driver was closed ${closes} times where ${due} were due (${reason})`);

  // D11: the time, and the cause
  const { closeTimeoutMs = 5_000 } = story.plan.header.options ?? {};
  const begun = facts[fence];
  // within one era the clock may have moved on before the promise could tell: the era's first moment counts
  const knownBy = facts.find(({ era }) => era === closedAt?.era)?.at ?? 0;
  const took = begun === undefined ? 0 : knownBy - begun.at;
  if (closeTimeoutMs > 0 && took > closeTimeoutMs) {
    findings.push(`D11: \`closed\` resolved ${took} ms after the end, closeTimeoutMs is ${closeTimeoutMs}`);
  }
  findings.push(...checkCause(story, begun));

  // D14
  if (run.timersLeft > 0) findings.push(`D14: ${run.timersLeft} timers are left when \`closed\` resolves`);
  if (run.listenersLeft > 0)
    findings.push(`D14: ${run.listenersLeft} abort listeners are left on the signal of the host`);
  findings.push(...run.stray);
  const { who } = story.plan.readers;
  for (const reader of ['events$', 'loop'] as const) {
    const reads = reader === 'loop' ? who === 'loop' || who === 'both' : who !== 'loop';
    const ends = story.all('over').filter(({ over }) => over === reader).length;
    if (ends !== (reads ? 1 : 0)) findings.push(`D9: ${reader} ended ${ends} times`);
  }
  findings.push(...checkBeginning(story), ...checkLifetime(story), ...checkClosers(story), ...checkActs(story));
  return findings;
}

/** The start resolves where there was a session to give, and else rejects with what kept it away. */
function checkBeginning(story: Story): string[] {
  const begun = story.all('begun');
  const [one] = begun;
  if (one === undefined || begun.length > 1) return [`the start was settled ${begun.length} times`];
  const wrong = (what: string) => [`the start ${what}, found ${one.begun || String(one.error)} (${story.reason})`];
  const wasOpen = story.all('driver').some(({ driver }) => driver !== 'connect' && driver !== 'close');
  if (wasOpen || story.events.length > 0) return one.begun ? [] : wrong('rejects though there was a session');
  const first = story.facts[story.fence];
  const [answer] = story.all('answered').filter(({ answered }) => answered === 'connect');
  if (first !== undefined && 'host' in first && first.index < (answer?.index ?? Number.POSITIVE_INFINITY)) {
    const isRight =
      first.host === 'abort' ? one.error === story.run.abortReason : one.error instanceof ConnectAbortedError;
    return isRight ? [] : wrong(`has to reject for the ${first.host} of the host`);
  }
  if (story.reason !== 'connect_failed') return [];
  const message = messageOf(one.error);
  const isLate = message.startsWith('connect timed out');
  // an answer may be on its way when the time is over
  if (answer === undefined || (isLate && answer.era >= one.era)) return isLate ? [] : wrong('has to time out');
  return message === 'refused' && !answer.accepts ? [] : wrong("has to reject with the driver's error");
}

/** The driver's signal fires once at every end, after the signals of code and right before the driver's close. */
function checkLifetime(story: Story): string[] {
  const fired = story.all('lifetime');
  const [one] = fired;
  if (one === undefined) return story.reason === 'connect_failed' ? [] : ["the driver's signal never fired"];
  if (fired.length > 1) return [`the driver's signal fired ${fired.length} times`];
  const isRight =
    story.reason === 'aborted' ? one.reason === story.run.abortReason : one.reason instanceof SessionEndedError;
  if (!isRight) return [`the driver's signal fired with ${String(one.reason)} (${story.reason})`];
  const [close] = story.driverCalls('close');
  if (close !== undefined && close.index < one.index) return ['the driver was closed before its signal fired'];
  const late = story.all('code').some((fact) => fact.is === 'aborted' && fact.index > one.index);
  return late ? ["the signal of code fired after the driver's"] : [];
}

/** Every \`close()\` shares one outcome: that of the driver's close, if it came in time. */
function checkClosers(story: Story): string[] {
  const closed = story.all('closed')[0];
  if (closed === undefined || story.plan.forgets) return [];
  const answer = story.all('answered').find(({ answered, index }) => answered === 'close' && index < closed.index);
  const { closeTimeoutMs = 5_000 } = story.plan.header.options ?? {};
  return story.all('host').flatMap((act) => {
    if (act.host !== 'close' || act.era >= closed.era) return [];
    const end = story.all('settled').find(({ settled }) => settled === act.number);
    const error = end !== undefined && 'error' in end ? end.error : undefined;
    if (error instanceof SessionCloseTimeoutError) {
      return closeTimeoutMs > 0 && (answer === undefined || answer.era === closed.era)
        ? []
        : ['close() timed out too early'];
    }
    const isRight = answer?.accepts === false ? messageOf(error) === 'refused' : error === undefined;
    return isRight ? [] : [`close() was answered with ${String(error)}, the driver accepted: ${answer?.accepts}`];
  });
}

/** First cause wins. */
function checkCause(story: Story, begun: Fact | undefined): string[] {
  const { reason } = story;
  const wrong = (what: string) => [`D11: the reason is ${reason}, ${what}`];
  if (begun !== undefined && 'host' in begun) {
    const expected = begun.host === 'close' ? 'host' : 'aborted';
    // ends that leave no mark of their own before `closed` may have come first
    const isUnmarked = reason === 'connect_failed' || (reason === 'far_side' && !story.isPrompt);
    if (reason !== expected && !isUnmarked) {
      return wrong(`the first cause was ${begun.host}`);
    }
  }
  const acts = story.all('host');
  if (reason === 'host' && !acts.some(({ host }) => host === 'close')) return wrong('the host never closed');
  if (reason === 'aborted' && !acts.some(({ host }) => host === 'abort')) return wrong('the host never aborted');
  const refusedFlush = story.all('answered').some(({ answered, accepts }) => answered === 'flush' && !accepts);
  if (reason === 'journal_failed' && !refusedFlush) return wrong('every flush went well');
  return [];
}

/** §5 *End*: pending acts are refused, then closes are answered, then `closed` resolves. */
function checkOrderOfAnswers(story: Story): string[] {
  const closed = story.all('closed')[0];
  if (closed === undefined) return [];
  const settled = new Map(story.all('settled').map((fact) => [fact.settled, fact.index]));
  const earlier = story.all('host').filter(({ era, host }) => era < closed.era && host !== 'abort');
  const indexOf = ({ number }: { readonly number: number }) => settled.get(number) ?? Number.POSITIVE_INFINITY;
  const late = earlier.find((act) => indexOf(act) > closed.index);
  if (late !== undefined) return [`\`closed\` resolved before act ${late.number} (${late.host}) was answered`];
  const answered = Math.min(...earlier.filter(({ host }) => host === 'close').map(indexOf));
  const passed = earlier.find((act) => act.host !== 'close' && act.index < story.fence && indexOf(act) > answered);
  return passed === undefined ? [] : [`close() was answered before act ${passed.number} (${passed.host}) was refused`];
}

/** Every act of the host is settled, and after the end refused as it should be. */
function checkActs(story: Story): string[] {
  const findings: string[] = [];
  if (story.plan.forgets) return findings;
  findings.push(...checkOrderOfAnswers(story));
  const settled = new Map(story.all('settled').map((fact) => [fact.settled, fact]));
  for (const act of story.all('host')) {
    const end = settled.get(act.number);
    if (end === undefined) {
      findings.push(`D11: act ${act.number} (${act.host}) was never settled`);
      continue;
    }
    if (act.index <= story.fence || act.host === 'abort') continue;
    if (act.host === 'close') {
      const fails = 'error' in end;
      if (fails && act.index > (story.all('closed')[0]?.index ?? 0))
        findings.push('close() after the end was rejected');
      continue;
    }
    const isRight =
      story.reason === 'aborted'
        ? end.error === story.run.abortReason
        : messageOf(end.error) === `session ended: ${story.reason}`;
    if (!('error' in end) || !isRight) {
      findings.push(`§5 Refusals: ${act.host} after the end was answered with ${String(end.error)} (${story.reason})`);
    }
  }
  return findings;
}

/** The next `interrupted` answers every `interrupt()` that waits, and nothing else answers one well. */
export function checkInterrupts(story: Story): string[] {
  const { plan, isPrompt, fence } = story;
  if (!isPrompt || plan.forgets || plan.header.provider?.interrupt !== true) return [];
  const interruptions = story.events.filter(({ event }) => event.type === 'interrupted');
  const quiets = story.all('quiet');
  const settled = story.all('settled');
  return story.all('host').flatMap((act) => {
    if (act.host !== 'interrupt' || act.index > fence) return [];
    const end = settled.find((fact) => fact.settled === act.number);
    const next = interruptions.find(({ index }) => index > act.index);
    const wrong = (what: string) => [`interrupt(): act ${act.number} ${what}`];
    if (end !== undefined && !('error' in end)) {
      return next === undefined || next.index > end.index ? wrong('was answered well before any `interrupted`') : [];
    }
    const quiet = quiets.find(({ index }) => next !== undefined && index > next.index);
    const wasPending = end === undefined || (quiet !== undefined && end.index > quiet.index);
    return next !== undefined && quiet !== undefined && wasPending ? wrong('waits though an `interrupted` came') : [];
  });
}

/** `onLate` and `settled_late`: told once of every outcome that was not published, and of no other. */
export function checkLate(story: Story): string[] {
  const findings: string[] = [];
  const closedAt = story.all('closed')[0]?.index ?? Number.POSITIVE_INFINITY;
  const states = new Map(story.report?.calls.map(({ id, state }) => [id, state]));
  const refusedFlush = story.all('answered').some(({ answered, accepts }) => answered === 'flush' && !accepts);
  for (const id of story.asked.keys()) {
    const told = story.all('late').filter((fact) => fact.late === id);
    const [end] = [...story.codeOf(id, 'resolved'), ...story.codeOf(id, 'rejected')];
    const wasAborted = story.codeOf(id, 'aborted');
    const timedOut = wasAborted.some((fact) => fact.is === 'aborted' && fact.reason instanceof CallTimeoutError);
    const state = states.get(id) ?? '';
    const isUnpublished = timedOut || state === 'abandoned' || state === 'cancelled';
    const due = end !== undefined && isUnpublished ? 1 : 0;
    // what cannot be made durable is left to the recovery, lest it be told twice
    const isLeft = due === 1 && told.length === 0 && refusedFlush;
    if (told.length !== due && !isLeft) {
      findings.push(`onLate was told ${told.length} times of call ${id} (${state}) where ${due} were due`);
    }
    const abandonment = story.changesOf(id).find(({ to }) => to === 'abandoned');
    const wasSettled = told.some(({ index }) => index < (abandonment?.index ?? 0));
    const drains = abandonment?.from === 'executing' || (abandonment?.from === 'committing' && timedOut && !wasSettled);
    const notes = story
      .all('lifecycle')
      .filter(({ lifecycle }) => lifecycle.type === 'settled_late' && lifecycle.id === id);
    const noteDue = drains && end !== undefined && end.index < closedAt ? 1 : 0;
    const isClose = end !== undefined && story.all('closed')[0]?.era === end.era;
    // with a durable journal nothing that is seen from outside tells which of the two was first
    const isEither =
      (story.plan.header.journal?.durable ?? story.plan.header.journal !== undefined) &&
      abandonment?.from === 'committing' &&
      (end?.index ?? Number.POSITIVE_INFINITY) < abandonment.index;
    if (notes.length !== noteDue && !isClose && !isEither) {
      findings.push(`settled_late came ${notes.length} times for call ${id} where ${noteDue} were due`);
    }
  }
  return findings;
}

function inWords(fact: Fact): string {
  if ('event' in fact) return `the event ${JSON.stringify(fact.event)}`;
  if ('driver' in fact) return `${fact.driver}(${fact.id ?? ''})`;
  return JSON.stringify(fact);
}
