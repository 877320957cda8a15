/**
 * A session as anybody would write it down who was there: the plain list that a recording must come to. Made of what a tap saw,
 * with the whole of it at hand: what becomes of a call is looked up, not waited for. Shares no code with what it checks.
 */
import type { CloseReport } from '../../../src/contract/lifecycle.js';
import type { PassedAct, SessionTap, TappedNote } from '../../../src/contract/session-tap.js';
import type { BidiTurnEvent } from '../../../src/contract/turn-event.js';

export type Fact =
  | { readonly reported: BidiTurnEvent }
  | { readonly noted: TappedNote }
  | { readonly acted: PassedAct }
  | { readonly ended: CloseReport };

/** Writes down what a tap sees. */
export function factsOf(facts: Fact[]): SessionTap {
  return {
    reported: (reported) => facts.push({ reported }),
    noted: (noted) => facts.push({ noted }),
    acted: (acted) => facts.push({ acted }),
    ended: (ended) => facts.push({ ended }),
  };
}

export interface TranscriptRules {
  readonly mode: 'keep' | 'discard';
  /** Whether an interruption passes the calls of this tool by. */
  readonly delivers: (tool: string) => boolean;
}

/** A line of the transcript. What belongs to a batch that is thrown away goes, but for what is `lasting`. */
interface Line {
  readonly who: 'user' | 'agent' | 'call' | 'answer';
  /** Of the call. */
  readonly call?: string;
  /** Of an answer: the call that it answers. */
  readonly of?: Line | undefined;
  /** In pieces, each of the batch in which it came. */
  pieces: { text: string; batch: number }[];
  batch: number;
}

interface Played {
  lines: Line[];
  /** Milliseconds; NaN where one piece did not say. */
  audio: number;
  played: number | undefined;
}

const words = new Intl.Segmenter(undefined, { granularity: 'word' });

export function transcriptOf(facts: readonly Fact[], { mode, delivers }: TranscriptRules): string[] {
  let lines: Line[] = [];
  let batch = 1;
  let inStretch = false;
  let agent: Line | undefined;
  let hearing: Line | undefined;
  let heardBefore = false;
  let unfinished: Line | undefined;
  /** Calls without an answer: the line of each. */
  const open = new Map<string, Line>();
  const names = new Map<string, string>();
  let plays: Played[] = [];
  let playIsOver = true;

  const textOf = ({ pieces }: Line) => pieces.map(({ text }) => text).join('');
  const write = (who: Line['who'], text: string, call?: string, of?: Line): Line => {
    const line: Line = { who, pieces: [{ text, batch }], batch, of, ...(call === undefined ? {} : { call }) };
    lines.push(line);
    return line;
  };
  const committed = () => {
    batch++;
  };
  const willBe = (id: string, from: number) =>
    facts.slice(from).flatMap((fact) => {
      if (!('noted' in fact) || fact.noted.type !== 'call' || fact.noted.id !== id) return [];
      const { to } = fact.noted;
      return to === 'publishing' || to === 'abandoned' || to === 'cancelled' ? [to] : [];
    })[0];
  const answer = (id: string, text: string) => {
    const of = open.get(id);
    if (open.delete(id)) write('answer', text, id, of);
  };

  /** Takes back what the batch at hand has brought, writes again what lasts. */
  const throwAway = (goesOn: (id: string) => boolean) => {
    const before = lines.filter((line) => line.batch < batch);
    for (const line of before)
      if (line.who === 'agent') line.pieces = line.pieces.filter((piece) => piece.batch < batch);
    const again = lines.filter((line) => {
      if (line.batch < batch) return false;
      if (line.who === 'user') return true;
      if (line.who === 'call') return open.get(line.call as string) === line && goesOn(line.call as string);
      // an answer of a call that stands is lasting
      return line.who === 'answer' && before.includes(line.of as Line);
    });
    lines = [...before, ...again];
    for (const line of again) line.batch = 0;
    for (const { pieces } of lines) for (const piece of pieces) if (piece.batch === batch) piece.batch = 0;
    for (const play of plays) play.lines = play.lines.filter((line) => lines.includes(line));
    batch++;
  };

  const cut = (newestLength: number) => {
    const [first] = plays;
    if (first?.played !== undefined) {
      for (const play of plays) {
        const share = play === first ? (first.played as number) / play.audio : 0;
        if (!(play.audio > 0) || share >= 1) continue;
        const whole =
          play === plays.at(-1) ? newestLength : play.lines.reduce((sum, line) => sum + textOf(line).length, 0);
        let left = Math.floor((whole * (play === first ? (first.played as number) : 0)) / play.audio);
        for (const line of play.lines) {
          const text = textOf(line);
          if (left < text.length) line.pieces = [{ text: beginning(text, left), batch: 0 }];
          left = Math.max(0, left - text.length);
        }
      }
    }
    plays = [];
    playIsOver = true;
  };

  const stretchEnds = () => {
    inStretch = false;
    agent = undefined;
    playIsOver = true;
  };
  const utteranceEnds = () => {
    unfinished = hearing ?? unfinished;
    hearing = undefined;
  };
  const output = () => {
    if (playIsOver) {
      playIsOver = false;
      const [first] = plays;
      if (!(first?.played !== undefined && first.played < first.audio)) plays = [];
      plays.push({ lines: [], audio: 0, played: undefined });
    }
    if (inStretch) return;
    inStretch = true;
    if (hearing !== undefined) heardBefore = true;
  };
  const played = (ms: number) => {
    if (plays.length === 0) return;
    const [first] = plays as [Played];
    const known = Number.isNaN(first.audio) ? 0 : first.audio;
    if (plays.length > 1 && (ms < (first.played ?? 0) || ms > known)) plays.shift();
    (plays[0] as Played).played = ms;
  };
  const end = () => {
    if (inStretch && mode === 'discard') throwAway(() => true);
    else committed();
    stretchEnds();
  };

  facts.forEach((fact, index) => {
    if ('reported' in fact) {
      const event = fact.reported;
      if (event.type === 'text') {
        output();
        if (event.text === '') return;
        if (agent === undefined) {
          agent = write('agent', event.text);
          plays.at(-1)?.lines.push(agent);
        } else agent.pieces.push({ text: event.text, batch });
      } else if (event.type === 'audio') {
        output();
        const rate = /rate=(\d+)/.exec(event.mediaType)?.[1];
        const play = plays.at(-1) as Played;
        play.audio +=
          rate === undefined ? Number.NaN : Buffer.from(event.data, 'base64').length / ((Number(rate) * 2) / 1000);
      } else if (event.type === 'turn_complete') {
        committed();
        stretchEnds();
        utteranceEnds();
      } else if (event.type === 'interrupted') {
        if (heardBefore && hearing !== undefined) utteranceEnds();
        const dropped = [...open.keys()].filter(
          (id) => !delivers(names.get(id) as string) && willBe(id, index) === 'abandoned',
        );
        const newest = plays.at(-1)?.lines.reduce((sum, line) => sum + textOf(line).length, 0) ?? 0;
        if (inStretch && mode === 'discard') throwAway((id) => !dropped.includes(id));
        cut(newest);
        for (const id of dropped) {
          if (lines.includes(open.get(id) as Line)) answer(id, 'cancelled');
          else open.delete(id);
        }
        committed();
        stretchEnds();
      }
    } else if ('noted' in fact) {
      const note = fact.noted;
      if (note.type === 'input_text') {
        if (!note.final) {
          if (note.text === '') return;
          if (hearing === undefined) {
            hearing = write('user', note.text);
            heardBefore = false;
          } else hearing.pieces.push({ text: note.text, batch });
          return;
        }
        const fits = unfinished !== undefined && note.text.startsWith(textOf(unfinished)) ? unfinished : undefined;
        const line = hearing ?? fits;
        hearing = undefined;
        unfinished = undefined;
        if (line !== undefined) line.pieces = [{ text: note.text, batch }];
        else if (note.text !== '') write('user', note.text);
      } else if (note.type === 'call') {
        if (note.from === null) {
          output();
          names.set(note.id, note.name);
          open.set(note.id, write('call', `${note.name} ${spaced(note.arguments ?? '')}`, note.id));
          agent = undefined;
        } else if (note.to === 'publishing') {
          answer(note.id, `${note.result?.isError} ${note.result?.output}`);
          committed();
        } else if (note.to === 'abandoned' || note.to === 'cancelled') answer(note.id, 'cancelled');
      } else if (note.type === 'restarting') {
        utteranceEnds();
        unfinished = undefined;
        end();
      }
    } else if ('acted' in fact) {
      const { acted } = fact;
      if (acted.type === 'played') played(acted.ms);
      else if (acted.type === 'interrupt') {
        if (acted.playedMs !== undefined) played(acted.playedMs);
      } else if (acted.input.type === 'text') {
        utteranceEnds();
        write('user', acted.input.text);
      }
    } else end();
  });
  return lines.map((line) => `${line.who}${line.call === undefined ? '' : ` ${line.call}`}: ${textOf(line)}`);
}

/** The whole words within so many units, without the space behind them. */
function beginning(text: string, length: number): string {
  const kept: string[] = [];
  for (const { segment, index } of words.segment(text)) if (index + segment.length <= length) kept.push(segment);
  return kept.join('').trimEnd();
}

/** Arguments, whatever the spaces between them. */
export function spaced(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text === '' ? '{}' : text));
  } catch {
    return text;
  }
}
