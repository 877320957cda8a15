/** What reaches the host, and how much of it is kept: D6, D7, D15. */
import { maxIds } from '../../../machines/index.js';
import * as call from './call-facts.js';
import { asksFor, callNamed, type SessionInvariant } from './rule.js';
import { responding, waiting } from './session-facts.js';

/** Events of the far side that a host is given as they are. */
const plain: ReadonlySet<string> = new Set(['text', 'audio', 'turn_complete', 'interrupted', 'error']);

export const D6: SessionInvariant = {
  number: 'D6',
  sentence: 'turn_complete changes no call; legal before, between and after calls, and after interrupted',
  reads: 'event, from and to of every record of the group',
  step(facts, { call: id, event, from, to }, group, breaches) {
    if (group.type !== 'turn_complete') return;
    if (id !== undefined) {
      if (from === to || facts.hasJustEnded) return;
      breaches.add('D6', `turn_complete moves ${callNamed(id)} from ${from} to ${to}`);
    } else if (event === 'turn_complete' && facts.isOpen && to !== 'open.waiting') {
      breaches.add('D6', `turn_complete leads the session from ${from} to ${to}`);
    }
  },
  end(facts, group, breaches) {
    if (group.type !== 'turn_complete' || !facts.hasJustEnded || facts.shown.overflows > 0) return;
    breaches.add('D6', 'turn_complete ends the session');
  },
};

export const D7: SessionInvariant = {
  number: 'D7',
  sentence:
    'text, audio, turn_complete, interrupted, error of the far side reach the host in its order, none lost, repeated or reordered (but for a local close or abort, the event that overflows, and dropUnreadAudio, which always counts what it drops); an end that is not the host’s is told of by one last event',
  reads:
    'event and did of the session (deliver, reportEnd, discardUnread, noteOverflow, dropUnreadAudio); passed, room, unreadAudio',
  begin(facts, { passed }, breaches) {
    if (passed === undefined) return;
    for (const kind of ['text', 'audio'] as const) {
      const [taken, delivered] = passed[kind];
      if (facts.isOpen ? taken !== delivered : delivered > 0) {
        breaches.add('D7', `of ${taken} pieces of ${kind} that the far side sent, the host was given ${delivered}`);
      }
    }
  },
  step(_facts, step, group, breaches) {
    if (step.call !== undefined) {
      if (asksFor(step, 'deliver')) breaches.add('D7', `${callNamed(step.call)} delivers an event of the far side`);
      return;
    }
    if (asksFor(step, 'deliver') && !plain.has(group.type)) {
      breaches.add('D7', `an event is delivered, and what happened is ${group.type || 'a beginning'}`);
    }
  },
  end(facts, group, breaches) {
    const { shown } = facts;
    const wasOpen = shown.before === waiting || shown.before === responding;
    if (wasOpen && plain.has(group.type)) {
      const fits = group.room > 0 || shown.audioDrops > 0;
      const isDropped = shown.delivered === 0 && shown.overflows > 0;
      if (shown.delivered > 1)
        breaches.add('D7', `${group.type} of the far side is delivered ${shown.delivered} times`);
      else if (isDropped && fits)
        breaches.add('D7', `${group.type} of the far side is dropped, and the buffer has room`);
      else if (shown.delivered === 0 && !isDropped) {
        breaches.add('D7', `${group.type} of the far side is lost: it is neither delivered nor counted as dropped`);
      }
    }
    const isAudioDue = wasOpen && group.type === 'interrupted' && group.unreadAudio > 0 && facts.rules.dropUnreadAudio;
    if (shown.audioDrops !== (isAudioDue ? 1 : 0)) {
      breaches.add(
        'D7',
        isAudioDue
          ? `${group.unreadAudio} unread pieces of audio are to go at an interruption, and are not counted as dropped`
          : 'unread audio is dropped without an interruption that finds some',
      );
    }
    if (facts.hasJustEnded && wasOpen) {
      const isByHost = shown.endedBy === 'host_close' || shown.endedBy === 'host_abort';
      const due = isByHost ? 0 : 1;
      if (shown.lastReports !== due) {
        breaches.add('D7', `the session ends by ${shown.endedBy} with ${shown.lastReports} last events, not ${due}`);
      } else if (shown.discards > 0 && !isByHost) {
        breaches.add('D7', `the session ends by ${shown.endedBy}, and what waits unread is thrown away`);
      }
    } else if (shown.lastReports > 0) breaches.add('D7', 'a last event is reported, and the session has not ended');
  },
};

export const D15: SessionInvariant = {
  number: 'D15',
  sentence:
    'memory is bounded: no more events are put into the buffer than it takes, at most maxOpenCalls calls are open (those refused for their number are counted apart, and as many of them may wait for the far side)',
  reads: 'room, unreadAudio, did of every record of the group; event and to of calls; maxOpenCalls',
  step(facts, { call: id, event, to }, _group, breaches) {
    if (id === undefined || event === '') return;
    if ((facts.call(id) & call.beyondNumber) === 0) return;
    const next = call.callStateNumbered(to);
    if (next >= call.awaitingApproval && next <= call.executing) {
      breaches.add('D15', `${callNamed(id)} came beyond the ${facts.rules.maxOpenCalls} open ones, and is ${to}`);
    }
  },
  end(facts, group, breaches) {
    const { shown, rules } = facts;
    // a last event stands on a place of its own, beyond the others
    const takes = Math.max(0, group.room) + (shown.audioDrops > 0 ? group.unreadAudio : 0);
    if (shown.reports > takes) {
      breaches.add('D15', `${shown.reports} events are put into a buffer that takes ${takes}`);
    }
    if (!facts.isOpen) return;
    if (facts.refusedPublishing > 0 && facts.refusedPublishing >= rules.maxOpenCalls) {
      const count = `${facts.refusedPublishing} calls beyond the ${rules.maxOpenCalls} open ones`;
      breaches.add('D15', `${count} wait for the far side, and the session goes on`);
    }
    if (facts.ids > maxIds) breaches.add('D15', `the session knows more than ${maxIds} ids, and goes on`);
  },
};
