/**
 * Takes keys out of texts. What a service, a platform or a library says may hold the key or the URL that it was sent, so
 * every text from outside passes through here before anybody sees it.
 */
export class Secrets {
  readonly #shapes: readonly string[];

  constructor(secrets: readonly string[]) {
    const shapes = new Set<string>();
    for (const secret of secrets) {
      // So short a text is none, and would be found in every other one.
      if (secret.length < 4) continue;
      for (const shape of [secret, encodeURIComponent(secret), secret.replaceAll('+', '%2B')]) shapes.add(shape);
    }
    // the longest first: one may be part of another
    this.#shapes = [...shapes].sort((a, b) => b.length - a.length);
  }

  /** The text without a key in it. */
  hide(text: string): string {
    let shown = text;
    for (const shape of this.#shapes) if (shown.includes(shape)) shown = shown.replaceAll(shape, '[key]');
    return shown;
  }
}
