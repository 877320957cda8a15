/** Paths at random, for whoever takes the same ones elsewhere and compares. */
import type { Happening } from './happening.js';
import { isPossible } from './possible.js';
import type { SessionSystem } from './system.js';

/**
 * A path of the walk, as the numbers of what happens.
 * @param random gives numbers from 0 to below 1
 * @param length how many steps it has, unless nothing can happen before
 */
export function samplePath(system: SessionSystem, random: () => number, length: number): number[] {
  const { world } = system.first();
  const path: number[] = [];
  while (path.length < length) {
    const possible: number[] = [];
    for (const [code, happening] of system.happenings.entries()) {
      // an end comes now and then, or nothing else ever would
      const chance = isEnd(happening) ? 0.06 : 1;
      if (isPossible(world, happening, system.bounds) && (chance === 1 || random() < chance)) possible.push(code);
    }
    const code = possible[Math.floor(random() * possible.length)];
    if (code === undefined) {
      if (system.happenings.every((happening) => !isPossible(world, happening, system.bounds))) break;
      continue;
    }
    system.step(world, system.happenings[code] as Happening);
    system.order(world);
    path.push(code);
  }
  return path;
}

function isEnd(happening: Happening): boolean {
  switch (happening.of) {
    case 'stream':
    case 'repeat':
      return true;
    case 'far':
      return happening.type === 'closed' || happening.type === 'malformed';
    case 'host':
      return happening.act === 'close' || happening.act === 'abort';
    case 'connect':
    case 'flush':
      return !happening.resolves;
    case 'timeout':
      return happening.what === 'connect';
    default:
      return false;
  }
}
