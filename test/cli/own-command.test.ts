import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { ownCommand } from '../../src/cli/own-command.js';

const folder = resolve('checkout');
const file = join('dist', 'src', 'cli', 'main.js');

test.each([
  ['in a checkout', join(folder, file), folder, `node ${file}`],
  ['installed', join(folder, 'node_modules', '.bin', 'commitpoint'), folder, 'npx commitpoint'],
  ['from elsewhere', join(folder, file), resolve('elsewhere'), 'npx commitpoint'],
  ['not known', '', folder, 'npx commitpoint'],
])('%s', (_, started, where, words) => {
  expect(ownCommand(started, where)).toBe(words);
});
