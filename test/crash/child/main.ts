/** The program that is killed: sessions and a conversation on one durable journal, until the end. */
import { fileJournal } from '../../../src/journals/file/index.js';
import type { Orders } from '../points.js';
import { Random } from '../random.js';
import { AnnouncedJournal } from './announced-journal.js';
import { liveConversation } from './conversation.js';
import { Points } from './points.js';
import { liveSessions } from './sessions.js';
import { SideEffects } from './side-effects.js';

const orders = JSON.parse(process.argv[2] ?? '') as Orders;
const points = new Points(orders.stopAt);
const file = await fileJournal(orders.journal, { payloads: 'keep' });
const effects = new SideEffects(orders.effects, orders.journal);
effects.noteDurable();
const journal = new AnnouncedJournal(file, points, effects);
points.say('ready');
liveConversation(orders.seed, { journal, effects, points, random: new Random(orders.seed * 7) });
for (const name of ['a', 'b', 'c']) {
  const random = new Random(orders.seed * 7 + name.charCodeAt(0));
  liveSessions(`${orders.seed}${name}`, { journal, effects, points, random });
}
