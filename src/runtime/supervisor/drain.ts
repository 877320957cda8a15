/**
 * The way of a supervisor from `draining` to `stopped`.
 *
 * Invariants kept here:
 *
 * D1. Sessions are told to finish in reverse order of their start, all at once:
 *     none waits for another.
 * D2. A conversation is closed when every session that was started after it has
 *     ended: they may still have something to say to it.
 * D3. At the deadline the sessions that are left are closed, in the same order;
 *     D2 holds on, since a recording writes its last event when they have ended.
 * D4. Every child that lived when the drain began is reported, once.
 */
import type { Child } from './child.js';
import type { ChildReport, SupervisedCloseReport } from './report.js';

export class Drain {
  /** In reverse order of start. */
  readonly #order: Child[];
  readonly #left: Set<Child>;
  readonly #cut = new Set<Child>();
  readonly reports: ChildReport[] = [];
  #at = 0;

  constructor(children: Iterable<Child>) {
    this.#order = [...children].reverse();
    this.#left = new Set(this.#order);
  }

  begin(): void {
    for (const child of this.#order) if (child.kind === 'session') child.finish();
    this.#advance();
  }

  /** At the deadline. */
  cut(): void {
    for (const child of this.#order) if (this.#left.has(child)) this.#cut.add(child);
    for (const child of [...this.#cut]) if (child.kind === 'session') child.cut();
  }

  /** A child was released. */
  released(child: Child): void {
    if (!this.#left.delete(child)) return;
    const { id } = child;
    const cut = this.#cut.has(child);
    this.reports.push(
      child.kind === 'session'
        ? { kind: 'session', id, cut, report: child.closed.value as SupervisedCloseReport }
        : { kind: 'conversation', id, cut, phase: child.phase },
    );
    this.#advance();
  }

  /** Closes the conversations that nobody speaks to any more. */
  #advance(): void {
    for (; this.#at < this.#order.length; this.#at++) {
      const child = this.#order[this.#at] as Child;
      if (!this.#left.has(child)) continue;
      if (child.kind === 'session') return;
      // its end comes back as a release
      child.close();
    }
  }
}
