/** Paths of a field mask, resolved on the descriptor before anything is touched. */
import { MessageSchema } from '../../../proto/index.js';
import type { FieldPlan, MessagePlan } from '../message/plan.js';
import { planOf } from '../message/plan.js';

/** A path of a mask. */
export interface ResolvedPath {
  /** As it was given. */
  readonly text: string;
  /** The fields on the way, the last of them the one that is meant; with a `problem` those that were found. */
  readonly steps: readonly FieldPlan[];
  /** The last step is a Struct, and its map of fields is meant. */
  readonly structFields: boolean;
  /**
   * `unknown`: a name that the schema does not have; `below`: it goes on below a
   * scalar, an enum or a map; `identity`: it names what a message is found by.
   */
  readonly problem: 'unknown' | 'below' | 'identity' | undefined;
}

/** The paths of a mask, each once. */
export interface ResolvedMask {
  /** As they were given. */
  readonly texts: readonly string[];
  readonly paths: readonly ResolvedPath[];
  /** Those that were given more than once, each once. */
  readonly repeated: readonly string[];
  /** The first that the schema does not have. */
  readonly unknown: ResolvedPath | undefined;
  /** Each path, once, leads to one text: what an append of it takes from a patch is those texts and nothing else. */
  readonly isPlain: boolean;
}

const identity = new Set(['id', 'task_id']);

export function resolvePath(root: MessagePlan, text: string): ResolvedPath {
  const steps: FieldPlan[] = [];
  const found = (problem: ResolvedPath['problem'], structFields = false) => ({ text, steps, structFields, problem });
  if (identity.has(text)) return { ...found('identity'), steps: [root.fields.get(text) as FieldPlan] };
  const names = text.split('.');
  let plan: MessagePlan | undefined = root;
  for (const [at, name] of names.entries()) {
    const last = steps.at(-1);
    if (last?.kind === 'struct') {
      if (name !== 'fields') return found('unknown');
      return at === names.length - 1 ? found(undefined, true) : found('below');
    }
    if (plan === undefined) return found('below');
    const field = plan.fields.get(name);
    if (field === undefined) return found('unknown');
    steps.push(field);
    plan = field.message?.();
  }
  return found(undefined);
}

function resolveMask(root: MessagePlan, texts: readonly string[]): ResolvedMask {
  const times = new Map<string, number>();
  for (const text of texts) times.set(text, (times.get(text) ?? 0) + 1);
  const paths = [...times.keys()].map((text) => resolvePath(root, text));
  const repeated = [...times].filter(([, count]) => count > 1).map(([text]) => text);
  return {
    texts: texts.slice(),
    paths,
    repeated,
    unknown: paths.find(({ problem }) => problem === 'unknown'),
    isPlain: repeated.length === 0 && paths.every(isText),
  };
}

function isText({ steps, problem, structFields }: ResolvedPath): boolean {
  if (problem !== undefined || structFields || steps.at(-1)?.kind !== 'string') return false;
  return steps.every(({ kind }) => kind === 'message' || kind === 'string');
}

// masks that were met, so that a streamed message resolves its mask once; full, it begins anew
const known = new Map<string, ResolvedMask>();
let last: ResolvedMask | undefined;

/** The paths of a mask of messages. */
export function maskOf(texts: readonly string[]): ResolvedMask {
  if (last !== undefined && same(last.texts, texts)) return last;
  const key = texts.join('\n');
  let mask = known.get(key);
  // a path may hold the separator
  if (mask === undefined || !same(mask.texts, texts)) {
    mask = resolveMask(planOf(MessageSchema), texts);
    // long ones are met once
    if (key.length > maxKey) return mask;
    if (known.size >= maxMasks) known.clear();
    known.set(key, mask);
  }
  last = mask;
  return mask;
}

const maxMasks = 256;
const maxKey = 1024;

function same(one: readonly string[], other: readonly string[]): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false;
  return true;
}
