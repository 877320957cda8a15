import { createInspector } from '@statelyai/inspect';
import { describe, expect, test } from 'vitest';
import type { AnyActorRef, InspectionEvent } from 'xstate';
import { supervisorMachine } from '../../../machines/index.js';
import { mermaidOf } from '../../../src/inspect/diagram.js';
import { defineTool } from '../../../src/runtime/index.js';
import { quiet, toolCall } from '../stage.js';
import { FarSide, stage, text } from './stage.js';

const instant = defineTool({
  name: 'instant',
  description: '',
  input: { type: 'object' },
  effect: 'read',
  execute: () => 'done',
});

/** What is seen, as `id < parent: type`; ids of sessions and children are cut to what they are. */
function onlooker() {
  const actors: { readonly id: string; readonly parent: string | undefined; readonly root: string }[] = [];
  const events: string[] = [];
  const observer = (event: InspectionEvent) => {
    const ref = event.actorRef as AnyActorRef & { readonly _parent?: AnyActorRef };
    if (event.type === '@xstate.actor') actors.push({ id: ref.id, parent: ref._parent?.id, root: event.rootId });
    if (event.type === '@xstate.event') events.push(`${ref.id} ${event.event.type}`);
  };
  return { actors, events, observer };
}

describe('inspect', () => {
  test('tells of the supervisor, then of its children and theirs, and then of all that happens', async () => {
    const far = new FarSide({ hold: ['sendToolResult'] });
    const { start, supervisor } = stage({ id: 'sup_it' });
    const session = await start(far, { tools: [instant] });
    supervisor.createConversation({ id: 'c' });
    far.last.far.emit(toolCall('a', 'instant'));
    await quiet();
    const { actors, events, observer } = onlooker();
    const detach = supervisor.inspect(observer);
    const sessionId = session.current?.sessionId as string;
    const root = supervisor.actor.sessionId;
    expect(actors).toEqual([
      { id: 'sup_it', parent: undefined, root },
      { id: sessionId, parent: 'sup_it', root },
      { id: 'a', parent: sessionId, root },
      { id: 'conversation', parent: 'sup_it', root },
    ]);
    const younger = await start(new FarSide());
    expect(actors.at(-1)).toEqual({ id: younger.current?.sessionId, parent: 'sup_it', root });
    far.last.far.emit(text('one'));
    await quiet();
    expect(events).toContain('sup_it start_session');
    expect(events).toContain(`${sessionId} text`);
    detach();
    const seen = events.length;
    far.last.far.emit(text('two'));
    await start(new FarSide());
    expect(events).toHaveLength(seen);
  });

  test('of one session goes on across incarnations, and leaves the others alone', async () => {
    const far = new FarSide();
    const { start, pass } = stage({ id: 'sup_it' });
    const early = onlooker();
    const session = await start(far, { restart: { type: 'transient' }, inspect: early.observer });
    const other = await start(far);
    const { actors, observer } = onlooker();
    const detach = session.inspect(observer);
    far.lines[0]?.far.end();
    await pass(100);
    expect(actors.map(({ parent }) => parent)).toEqual(['sup_it', 'sup_it']);
    expect(actors.map(({ id }) => id)).toEqual(early.actors.map(({ id }) => id));
    expect(actors[1]?.id).toBe(session.current?.sessionId);
    expect(actors.map(({ id }) => id)).not.toContain(other.current?.sessionId);
    detach();
    far.last.far.end();
    await pass(100);
    expect(actors).toHaveLength(2);
    expect(early.actors).toHaveLength(3);
    expect(() => session.inspect(1 as never)).toThrow('observer');
  });

  test('shows the stock inspector a tree that it can draw', async () => {
    const sent: { type: string; sessionId: string; parentId?: string; definition?: string; rootId: string }[] = [];
    const inspector = createInspector({
      start: () => {},
      stop: () => {},
      send: (event) => sent.push(event as never),
    });
    const far = new FarSide();
    const { start, supervisor } = stage({ inspect: inspector.inspect as never });
    const session = await start(far);
    supervisor.createConversation();
    // it sends on a timer
    await new Promise((resolve) => setTimeout(resolve, 5));
    const [root, child, conversation] = sent.filter(({ type }) => type === '@xstate.actor');
    expect(root?.parentId).toBeUndefined();
    expect(Object.keys(JSON.parse(root?.definition as string).states).sort()).toEqual([
      'draining',
      'running',
      'stopped',
    ]);
    expect(child).toMatchObject({
      sessionId: session.current?.actor.sessionId,
      parentId: supervisor.actor.sessionId,
      rootId: supervisor.actor.sessionId,
    });
    expect(conversation?.parentId).toBe(supervisor.actor.sessionId);
    await supervisor.shutdown();
  });

  test('draws the machine that runs', () => {
    const { supervisor } = stage();
    const { logic } = supervisor.actor as unknown as { logic: { config: object } };
    expect(mermaidOf(logic)).toBe(mermaidOf(supervisorMachine));
  });

  test('is told of nothing by children, whose done events reach no supervisor', async () => {
    const far = new FarSide();
    const { start, supervisor } = stage();
    const { events, observer } = onlooker();
    supervisor.inspect(observer);
    await (await start(far)).close();
    expect(events.filter((event) => event.includes('xstate.done'))).toEqual([]);
    expect(supervisor.stats.strays).toBe(0);
  });
});
