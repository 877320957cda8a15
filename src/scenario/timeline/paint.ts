import type { Tone } from './row.js';

const codes: Readonly<Record<Tone, string>> = {
  plain: '',
  far: '36',
  host: '35',
  run: '34',
  commit: '1;33',
  good: '32',
  bad: '31',
  quiet: '2',
};

/** Gives a text the colour of a tone, or leaves it as it is. */
export type Paint = (text: string, tone: Tone) => string;

/** The painter for a terminal with colour, or for anything else. */
export function painter(color: boolean): Paint {
  return (text, tone) =>
    color && codes[tone] !== '' && text.trim() !== '' ? `\u001b[${codes[tone]}m${text}\u001b[0m` : text;
}
