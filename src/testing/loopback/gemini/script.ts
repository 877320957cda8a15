/** What the model of the loopback server does in one turn, step by step. A step that calls tools gives their answers. */
export type Reply = Generator<ReplyStep, void, readonly ToolAnswer[]>;

/** Plays the model: asked once for each turn of the user, and for each result that came while nobody waited for it. */
export type Model = (turn: UserTurn) => Reply;

/** Why the model speaks. */
export type UserTurn =
  | { readonly type: 'text'; readonly text: string; readonly turns: readonly unknown[] }
  | { readonly type: 'audio'; readonly ms: number }
  /** Results of calls that the model did not wait for. */
  | { readonly type: 'answers'; readonly answers: readonly ToolAnswer[] };

export interface ToolAnswer {
  readonly id: string;
  readonly name: string;
  readonly response: Readonly<Record<string, unknown>>;
}

export interface ScriptedCall {
  readonly name: string;
  readonly args?: Readonly<Record<string, unknown>>;
  /** Default: the server's own. `null`: the wire gives it none. */
  readonly id?: string | null;
}

export type ReplyStep =
  /** Speech of some frames, with its transcript; plain text where the session asks for text. */
  | { readonly type: 'say'; readonly text: string }
  | { readonly type: 'think'; readonly text: string }
  /** One `toolCall`. The script goes on when every blocking call of it was answered, or at once where there is none. */
  | { readonly type: 'call'; readonly calls: readonly ScriptedCall[] }
  /** Time passes on the server's clock. */
  | { readonly type: 'pause'; readonly ms: number }
  /** Any frame, as it stands. */
  | { readonly type: 'frame'; readonly frame: unknown }
  /** The turn ends with a reason of its own. */
  | { readonly type: 'fail'; readonly reason: string }
  /** The connection ends here: with a close frame, or without. */
  | { readonly type: 'close'; readonly code: number; readonly reason: string }
  | { readonly type: 'cut' };

export const say = (text: string): ReplyStep => ({ type: 'say', text });
export const think = (text: string): ReplyStep => ({ type: 'think', text });
export const call = (...calls: readonly ScriptedCall[]): ReplyStep => ({ type: 'call', calls });
export const pause = (ms: number): ReplyStep => ({ type: 'pause', ms });
export const frame = (value: unknown): ReplyStep => ({ type: 'frame', frame: value });
export const fail = (reason: string): ReplyStep => ({ type: 'fail', reason });
export const close = (code: number, reason = ''): ReplyStep => ({ type: 'close', code, reason });
export const cut = (): ReplyStep => ({ type: 'cut' });

/** A model that says back what it was told. */
export function* echo(turn: UserTurn): Reply {
  if (turn.type === 'text') yield say(`You said: ${turn.text}`);
  else if (turn.type === 'audio') yield say(`I heard ${Math.round(turn.ms)} ms.`);
}
