import type { HostAct } from '../../machines/index.js';
import type { BidiInput } from '../contract/provider.js';

/** A wish of the host, with what it carries and the promise that was given for it. */
export type PendingAct = (
  | { readonly type: 'send'; readonly input: BidiInput }
  | { readonly type: 'interrupt'; readonly playedMs: number | undefined }
  | { readonly type: 'played'; readonly ms: number }
  | { readonly type: 'approve'; readonly id: string }
  | { readonly type: 'deny'; readonly id: string; readonly message: string }
) &
  HostAct & { readonly resolve: () => void; readonly reject: (error: unknown) => void };

/** The acts that the driver has not answered, in the order in which they were asked. */
export class PendingActs {
  #acts: Set<PendingAct> | undefined;

  add(act: PendingAct): void {
    this.#acts ??= new Set();
    this.#acts.add(act);
  }

  resolve(act: PendingAct): void {
    if (this.#acts?.delete(act)) act.resolve();
  }

  reject(act: PendingAct, error: unknown): void {
    if (this.#acts?.delete(act)) act.reject(error);
  }

  /** The far side acknowledged: all `interrupt()` calls that wait are answered. */
  resolveInterrupts(): void {
    for (const act of this.#acts ?? []) {
      if (act.type === 'interrupt') this.resolve(act);
    }
  }

  /** Nothing will be answered any more. */
  rejectAll(error: unknown): void {
    for (const act of this.#acts ?? []) this.reject(act, error);
  }
}

/** A promise whose rejection the host may ignore without harm: it is told, not punished. */
export function actPromise(run: (resolve: () => void, reject: (error: unknown) => void) => void): Promise<void> {
  const promise = new Promise<void>(run);
  promise.catch(() => {});
  return promise;
}
