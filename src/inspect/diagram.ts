/**
 * Machines as they run, drawn from their own tables: the diagram cannot say
 * anything that the machine does not do.
 *
 * G1. What is printed follows from the table alone, in its order: the same
 *     table gives the same text.
 * G2. Nothing is left out: every state, every transition with its event, guard
 *     and actions, every entry and exit action is in the drawing and in the JSON.
 */

/** What can be drawn: an XState machine, or any logic that carries a `config` of the same shape. */
export interface Drawable {
  readonly config: object;
}

/** An action that a table names; `params` where it gives some. */
export interface DiagramAction {
  readonly type: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** A transition, in the order in which guards are tried. */
export interface DiagramTransition {
  /** The event's type; `always` where it is taken as soon as its guard holds. */
  readonly event: string;
  /** The guard's name; absent where there is none. */
  readonly guard?: string;
  /** The name of the state that it leads to; absent where the state is not left. */
  readonly target?: string;
  readonly actions: readonly DiagramAction[];
}

/** A state; `name` is its path from the root, with dots. */
export interface DiagramState {
  readonly name: string;
  readonly type: 'atomic' | 'compound' | 'parallel' | 'final';
  /** Of a compound state: where it begins. */
  readonly initial?: string;
  readonly entry: readonly DiagramAction[];
  readonly exit: readonly DiagramAction[];
  readonly transitions: readonly DiagramTransition[];
}

/** A machine as data: plain JSON. */
export interface MachineDiagram {
  readonly id: string;
  readonly initial?: string;
  /** Outer states come before the states inside them. */
  readonly states: readonly DiagramState[];
  /** Transitions that are tried in every state, after its own. */
  readonly transitions: readonly DiagramTransition[];
}

/**
 * A machine as plain JSON data.
 *
 * @throws {TypeError} when `config` is no table of states, or leads to a state that is not in it
 */
export function jsonOf(machine: Drawable): MachineDiagram {
  const root = machine.config as NodeConfig;
  const states: DiagramState[] = [];
  const names = new Set<string>();
  collectNames(root, '', names);
  if (names.size === 0) throw new TypeError('machine: expected a `config` with `states`, found none');
  const walk = (node: NodeConfig, path: string): void => {
    for (const [key, child] of Object.entries(node.states ?? {})) {
      const name = inside(path, key);
      states.push(stateOf(name, child, names, root.id));
      walk(child, name);
    }
  };
  walk(root, '');
  return {
    id: root.id ?? 'machine',
    ...(typeof root.initial === 'string' ? { initial: root.initial } : {}),
    states,
    transitions: transitionsOf('', root, names, root.id),
  };
}

/**
 * A machine as a Mermaid `stateDiagram-v2`. Arrows carry
 * `event [guard] / action, action`; what a state does without being left stands
 * in a note beside it.
 *
 * @throws {TypeError} as {@link jsonOf} does
 */
export function mermaidOf(machine: Drawable): string {
  const { initial, states, transitions } = jsonOf(machine);
  const lines = ['stateDiagram-v2'];
  if (initial !== undefined) lines.push(`  [*] --> ${idOf(initial)}`);
  const draw = (parent: string, indent: string): void => {
    const children = states.filter(({ name }) => parentOf(name) === parent);
    for (const state of children) {
      const key = state.name.slice(parent === '' ? 0 : parent.length + 1);
      const id = idOf(state.name);
      if (state.type === 'compound' || state.type === 'parallel') {
        lines.push(id === key ? `${indent}state ${id} {` : `${indent}state "${key}" as ${id} {`);
        if (state.initial !== undefined) lines.push(`${indent}  [*] --> ${idOf(state.initial)}`);
        draw(state.name, `${indent}  `);
        lines.push(`${indent}}`);
      } else if (id !== key) lines.push(`${indent}state "${key}" as ${id}`);
      else lines.push(`${indent}${id}`);
    }
    for (const state of children) {
      lines.push(...arrowsOf(state, states).map((arrow) => `${indent}${arrow}`));
      if (state.type === 'final' && parent === '') lines.push(`${indent}${idOf(state.name)} --> [*]`);
    }
  };
  draw('', '  ');
  for (const [name, notes] of notesOf(states, { initial, transitions })) {
    // a note on the right of an inner state would lie on the arrows that leave its frame
    const side = parentOf(name) === '' ? 'right' : 'left';
    lines.push(`  note ${side} of ${idOf(name)}`, ...notes.map((note) => `    ${note}`), '  end note');
  }
  return `${lines.join('\n')}\n`;
}

/** An action as people read it: its name, and the values of what it is given. */
export function actionLabel({ type, params }: DiagramAction): string {
  const values = Object.values(params ?? {}).map((value) =>
    typeof value === 'string' ? value : JSON.stringify(value),
  );
  return values.length === 0 ? type : `${type}(${values.join(', ')})`;
}

// ── the drawing ──

const labelsOf = (actions: readonly DiagramAction[]): string => actions.map(actionLabel).join(', ');

const idOf = (name: string): string => name.replaceAll(/[^A-Za-z0-9]/g, '_');

const isWithin = (name: string, frame: string): boolean => name.startsWith(`${frame}.`);

const parentOf = (name: string): string => name.slice(0, Math.max(0, name.lastIndexOf('.')));

/** Transitions of one state that differ in their event alone, as one arrow. */
interface Arrow {
  readonly events: string[];
  /** What holds when it is taken: its guard, or that none of the guards before it did. */
  readonly condition: string | undefined;
  readonly transition: DiagramTransition;
}

function arrowsIn(transitions: readonly DiagramTransition[]): Arrow[] {
  const arrows = new Map<string, Arrow>();
  const guarded = new Set<string>();
  for (const transition of transitions) {
    const { event, guard, target, actions } = transition;
    const condition = guard ?? (guarded.has(event) ? 'else' : undefined);
    if (guard !== undefined) guarded.add(event);
    const key = JSON.stringify([condition, target, actions]);
    const known = arrows.get(key);
    if (known === undefined) arrows.set(key, { events: [event], condition, transition });
    else known.events.push(event);
  }
  return [...arrows.values()];
}

function labelOf({ events, condition, transition }: Arrow, actions = transition.actions): string {
  const when = condition === undefined ? '' : ` [${condition}]`;
  const effects = actions.length === 0 ? '' : ` / ${labelsOf(actions)}`;
  return `${events.join(', ')}${when}${effects}`;
}

/**
 * The arrows of a state, one for each state that it leads to. A transition from
 * a frame into the frame is drawn from each other state in it and stands in the
 * note of the frame: layouts have no place for an arrow that ends where it is.
 */
function arrowsOf(state: DiagramState, states: readonly DiagramState[]): string[] {
  const byEnds = new Map<string, Arrow[]>();
  const add = (from: string, to: string, arrow: Arrow) => {
    const ends = `${idOf(from)} --> ${idOf(to)}`;
    byEnds.set(ends, [...(byEnds.get(ends) ?? []), arrow]);
  };
  const within = (name: string) => states.filter((inner) => parentOf(inner.name) === name);
  for (const arrow of arrowsIn(state.transitions)) {
    const { target } = arrow.transition;
    if (target === undefined) continue;
    const origins = isWithin(target, state.name) ? within(state.name).filter(({ name }) => name !== target) : [state];
    for (const { name } of origins) add(name, target, arrow);
  }
  return [...byEnds].map(([ends, arrows]) => `${ends}: ${labelsFor(arrows).join('<br/>')}`);
}

/** Labels of arrows with the same ends. Neighbours that differ in their first action alone say the rest once. */
function labelsFor(arrows: readonly Arrow[]): string[] {
  const labels: string[] = [];
  for (let index = 0; index < arrows.length; ) {
    const alike = likeTheFirst(arrows.slice(index));
    const [first, ...rest] = alike[0]?.transition.actions ?? [];
    if (alike.length === 1 || first === undefined) labels.push(...alike.map((arrow) => labelOf(arrow)));
    else {
      labels.push(...alike.map((arrow) => labelOf(arrow, arrow.transition.actions.slice(0, 1))));
      labels.push(`the last ${alike.length}, then: ${labelsOf(rest)}`);
    }
    index += alike.length;
  }
  return labels;
}

function likeTheFirst(arrows: readonly Arrow[]): readonly Arrow[] {
  const rest = ({ transition }: Arrow) => JSON.stringify(transition.actions.slice(1));
  const [first] = arrows;
  if (first === undefined || first.transition.actions.length < 3) return arrows.slice(0, 1);
  const end = arrows.findIndex((arrow) => rest(arrow) !== rest(first));
  return end === -1 ? arrows : arrows.slice(0, end);
}

/**
 * What happens without an arrow, by the state that it is written beside. For a
 * frame (the machine itself is one) that is the state in which it begins.
 */
function notesOf(
  states: readonly DiagramState[],
  {
    initial,
    transitions,
  }: { readonly initial: string | undefined; readonly transitions: readonly DiagramTransition[] },
): Map<string, string[]> {
  const notes = new Map<string, string[]>();
  const first = (name: string): string => {
    const begins = states.find((state) => state.name === name)?.initial;
    return begins === undefined ? name : first(begins);
  };
  const add = (beside: string, where: string, lines: readonly string[]) => {
    if (lines.length === 0) return;
    const head = where === beside ? [] : [`in ${where}:`];
    notes.set(beside, [...(notes.get(beside) ?? []), ...head, ...lines]);
  };
  for (const state of states) {
    add(first(state.name), state.name, [
      ...(state.entry.length > 0 ? [`entry / ${labelsOf(state.entry)}`] : []),
      ...(state.exit.length > 0 ? [`exit / ${labelsOf(state.exit)}`] : []),
      ...arrowsIn(state.transitions).flatMap((arrow) => {
        const { target, actions } = arrow.transition;
        if (target === undefined) return [`${labelOf(arrow)}${actions.length === 0 ? ' / nothing' : ''}`];
        return isWithin(target, state.name) ? [`${labelOf(arrow)} → ${target.slice(state.name.length + 1)}`] : [];
      }),
    ]);
  }
  const anywhere = arrowsIn(transitions).map((arrow) => {
    const { target } = arrow.transition;
    return `${labelOf(arrow)}${target === undefined ? '' : ` → ${target}`}`;
  });
  add(first(initial ?? states[0]?.name ?? ''), 'every state', anywhere);
  return notes;
}

// ── the table ──

type OneOrMany<Item> = Item | readonly Item[];
type ActionConfig = string | { readonly type: string; readonly params?: unknown } | ((...args: never[]) => unknown);

interface TransitionObject {
  readonly target?: OneOrMany<string>;
  readonly guard?: unknown;
  readonly actions?: OneOrMany<ActionConfig>;
}

type TransitionConfig = OneOrMany<string | TransitionObject> | undefined;

interface NodeConfig {
  readonly id?: string;
  readonly type?: string;
  readonly initial?: string | { readonly target: string };
  readonly entry?: OneOrMany<ActionConfig>;
  readonly exit?: OneOrMany<ActionConfig>;
  readonly on?: Readonly<Record<string, TransitionConfig>>;
  readonly always?: TransitionConfig;
  readonly states?: Readonly<Record<string, NodeConfig>>;
}

const inside = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

function many<Item>(value: OneOrMany<Item> | undefined): readonly Item[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value as Item];
}

function collectNames(node: NodeConfig, path: string, names: Set<string>): void {
  for (const [key, child] of Object.entries(node.states ?? {})) {
    names.add(inside(path, key));
    collectNames(child, inside(path, key), names);
  }
}

function stateOf(name: string, node: NodeConfig, names: ReadonlySet<string>, rootId: string | undefined): DiagramState {
  const initial = typeof node.initial === 'string' ? node.initial : node.initial?.target;
  return {
    name,
    type: typeOf(node),
    ...(initial === undefined ? {} : { initial: inside(name, initial) }),
    entry: many(node.entry).map(actionOf),
    exit: many(node.exit).map(actionOf),
    transitions: transitionsOf(name, node, names, rootId),
  };
}

function typeOf(node: NodeConfig): DiagramState['type'] {
  if (node.type === 'final' || node.type === 'parallel') return node.type;
  return node.states === undefined ? 'atomic' : 'compound';
}

function transitionsOf(
  name: string,
  node: NodeConfig,
  names: ReadonlySet<string>,
  rootId: string | undefined,
): DiagramTransition[] {
  const named: [string, TransitionConfig][] = [...Object.entries(node.on ?? {}), ['always', node.always]];
  return named.flatMap(([event, config]) =>
    many(config).map((entry): DiagramTransition => {
      const transition: TransitionObject = typeof entry === 'string' ? { target: entry } : entry;
      const target = many(transition.target)[0];
      return {
        event,
        ...(transition.guard === undefined ? {} : { guard: guardOf(transition.guard) }),
        ...(target === undefined ? {} : { target: targetOf(target, name, names, rootId) }),
        actions: many(transition.actions).map(actionOf),
      };
    }),
  );
}

/** Where a target leads, seen from the state that names it: `.child`, `sibling.child` or `#machine.state`. */
function targetOf(target: string, from: string, names: ReadonlySet<string>, rootId: string | undefined): string {
  let name: string;
  if (target.startsWith('.')) name = inside(from, target.slice(1));
  else if (target.startsWith('#')) name = target.slice(1).replace(`${rootId ?? 'machine'}.`, '');
  else name = inside(parentOf(from), target);
  if (!names.has(name)) throw new TypeError(`state ${from}: expected a target among the states, found ${target}`);
  return name;
}

function actionOf(action: ActionConfig): DiagramAction {
  if (typeof action === 'string') return { type: action };
  if (typeof action === 'function') return { type: action.name === '' ? 'inline' : action.name };
  const { type, params } = action;
  return typeof params === 'object' && params !== null
    ? { type, params: params as Readonly<Record<string, unknown>> }
    : { type };
}

function guardOf(guard: unknown): string {
  if (typeof guard === 'string') return guard;
  if (typeof guard === 'object' && guard !== null && 'type' in guard) return String(guard.type);
  return typeof guard === 'function' && guard.name !== '' ? guard.name : 'inline';
}
