/** The two limits of a call: of its code (or of an asynchronous validation), and of the far side's answer. */
import { errorResult } from './arguments.js';
import type { Call } from './call.js';
import type { SessionLife } from './session-life.js';

export function armTimeout(life: SessionLife, call: Call): void {
  const ms = call.tool?.timeoutMs ?? 0;
  if (ms === 0) return;
  const result = errorResult(`the tool ${call.name} timed out after ${ms} ms`);
  call.timer = life.settings.clock.setTimeout(() => life.callHappens(call, 'timed_out', { result }), ms);
}

export function disarmTimeout({ settings }: SessionLife, call: Call): void {
  if (call.timer !== undefined) settings.clock.clearTimeout(call.timer);
  call.timer = undefined;
}

export function armPublishTimeout(life: SessionLife, call: Call): void {
  const { clock, limits } = life.settings;
  if (limits.publishTimeoutMs === 0) return;
  call.publishTimer = clock.setTimeout(() => life.callHappens(call, 'publish_timed_out'), limits.publishTimeoutMs);
}

export function disarmPublishTimeout({ settings }: SessionLife, call: Call): void {
  if (call.publishTimer !== undefined) settings.clock.clearTimeout(call.publishTimer);
  call.publishTimer = undefined;
}
