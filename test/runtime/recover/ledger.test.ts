/** What a recovery keeps while it reads (B1): what had not ended, not what was. */
import { expect, test } from 'vitest';
import { Ledger } from '../../../src/runtime/recover/ledger.js';
import { expectNoHarm } from '../no-harm.js';
import { World } from './world.js';

expectNoHarm();

/** The records of a session that was closed, with one call that was delivered, or none. */
async function ended(calls: boolean) {
  const world = new World(true, { t: {} });
  await world.emit();
  if (calls) {
    await world.call('c', 't');
    await world.flush();
    await world.settle('c');
    await world.flush();
    await world.answer('c', 'accepted');
  }
  world.session.close().catch(() => {});
  await world.emit();
  return world.journal.records;
}

test('a thousand sessions that have ended leave nothing but their counts', async () => {
  const kinds = [await ended(true), await ended(false)];
  const ledger = new Ledger(false);
  for (let n = 0; n < 1000; n++) {
    for (const record of kinds[n % 2] ?? []) {
      ledger.take({ ...record, actor: record.actor.replace('ses_world', `ses_${n}`) });
      expect(ledger.sessions.length).toBeLessThanOrEqual(1);
    }
  }
  ledger.end();
  expect(ledger.sessions).toEqual([]);
  expect(ledger.count()).toMatchObject({ delivered: 500, outcome_unknown: 0 });
});

test('of a session that has ended a call stays until its code is accounted for', async () => {
  const world = new World(true, { t: {} });
  await world.emit();
  await world.call('c', 't');
  await world.call('d', 't', 'no JSON');
  await world.flush();
  world.session.close().catch(() => {});
  await world.emit();
  const ledger = new Ledger(false);
  for (const record of world.journal.records) ledger.take(record);
  expect(ledger.sessions.map(({ calls }) => [...calls.keys()])).toEqual([['c']]);
  const before = world.journal.records.length;
  await world.settle('c');
  for (const record of world.journal.records.slice(before)) ledger.take(record);
  expect(ledger.sessions).toEqual([]);
  expect(ledger.count()).toMatchObject({ abandoned: 1, publish_unknown: 1 });
});
