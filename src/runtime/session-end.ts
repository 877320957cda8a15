import type { CloseReport } from '../contract/lifecycle.js';

interface Closer {
  resolve(): void;
  reject(error: unknown): void;
}

/** How a session comes to its end: what caused it, who waits for it, and the report. */
export class SessionEnd {
  /** What the host aborted with. */
  abortReason: unknown;
  /** For the report: what the far side, the driver or the failure said. */
  message: string | undefined;
  /** Why the driver did not close as it should. */
  closeFailure: { readonly error: unknown } | undefined;
  #closers: Closer[] = [];
  #closed: { readonly promise: Promise<CloseReport>; resolve(report: CloseReport): void } | undefined;
  #report: CloseReport | undefined;

  get report(): CloseReport | undefined {
    return this.#report;
  }

  /** Resolves with the report; made when somebody asks. */
  get closed(): Promise<CloseReport> {
    if (this.#closed === undefined) {
      let resolve: (report: CloseReport) => void = () => {};
      const promise = new Promise<CloseReport>((settle) => {
        resolve = settle;
      });
      this.#closed = { promise, resolve };
      if (this.#report !== undefined) resolve(this.#report);
    }
    return this.#closed.promise;
  }

  /** One more `close()` that shares the outcome. */
  await(closer: Closer): void {
    this.#closers.push(closer);
  }

  /** Answers every `close()`. */
  answerClosers(): void {
    const closers = this.#closers;
    this.#closers = [];
    for (const closer of closers) {
      if (this.closeFailure === undefined) closer.resolve();
      else closer.reject(this.closeFailure.error);
    }
  }

  resolve(report: CloseReport): void {
    this.#report = report;
    this.#closed?.resolve(report);
  }
}
