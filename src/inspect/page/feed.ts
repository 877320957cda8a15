/**
 * What the server says, taken in a few milliseconds at a time: a run of any
 * length may come at once, and the page stays smooth.
 */
import type { Frame } from '../view/frames.js';
import { Run } from './model/run.js';
import type { Viewer } from './viewer.js';

/** Milliseconds of a frame that may go into taking things in; more where much waits, which nobody can read on the way anyway. */
const share = 8;
const largerShare = 30;
/** Frames of the server that are much. */
const much = 50;

export class Feed {
  readonly #viewer: Viewer;
  readonly #changed: () => void;
  #waiting: string[] = [];
  #next = 0;
  #source: EventSource | undefined;

  constructor(viewer: Viewer, changed: () => void) {
    this.#viewer = viewer;
    this.#changed = changed;
  }

  /** Connects, or connects again from the beginning. The browser itself comes back after a break, with the id of the last event. */
  connect(): void {
    this.#source?.close();
    this.#waiting = [];
    this.#next = 0;
    const source = new EventSource(`events${location.search}`);
    this.#source = source;
    this.#become('connecting');
    source.onopen = () => this.#become('open');
    source.onmessage = ({ data }) => {
      this.#waiting.push(String(data));
      // A page that nobody sees is given no frames: what comes must not pile up until it is seen.
      if (document.hidden) this.take(Number.POSITIVE_INFINITY);
      this.#changed();
    };
    source.onerror = () => this.#become(source.readyState === EventSource.CLOSED ? 'refused' : 'lost');
  }

  /** Whether more waits than one drawing can keep up with. */
  get isBehind(): boolean {
    return this.#waiting.length - this.#next > much;
  }

  /** Takes in what has come, for some milliseconds; `true` where something is left. */
  take(forMs = this.isBehind ? largerShare : share): boolean {
    const end = performance.now() + forMs;
    while (this.#next < this.#waiting.length && performance.now() < end) {
      const text = this.#waiting[this.#next++] as string;
      this.#read(text);
    }
    if (this.#next === this.#waiting.length) {
      this.#waiting = [];
      this.#next = 0;
    }
    this.#viewer.waiting = this.#waiting.length - this.#next;
    return this.#viewer.waiting > 0;
  }

  #read(text: string): void {
    let frame: Frame;
    try {
      frame = JSON.parse(text) as Frame;
    } catch {
      this.#stop('unreadable');
      return;
    }
    if (frame.type === 'opening') this.#viewer.begin(new Run(frame));
    else this.#viewer.run.add(frame);
    if (frame.type === 'ended') this.#stop('ended');
    else if (this.#viewer.run.fault !== undefined) this.#stop('unreadable');
  }

  #stop(as: 'ended' | 'unreadable'): void {
    this.#source?.close();
    this.#waiting.length = this.#next;
    this.#become(as);
  }

  #become(connection: Viewer['connection']): void {
    this.#viewer.connection = connection;
    this.#changed();
  }
}
