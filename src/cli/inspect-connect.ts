/** The frames of another process's inspector server, as they come. */
import { InvalidInputError, messageOf, UnreadableFileError } from '../contract/errors.js';

/** Looks whether an address is one of an inspector on this machine. @throws {InvalidInputError} */
export function inspectorUrl(text: string): URL {
  const expected = 'an address that createInspectorServer gave: http://127.0.0.1:PORT/?token=…';
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new InvalidInputError('--connect', expected, text);
  }
  const { protocol, hostname, host, searchParams } = url;
  const isHere = protocol === 'http:' && (hostname === '127.0.0.1' || hostname === 'localhost');
  const token = searchParams.get('token') ?? '';
  if (!isHere || !/^[\w-]{16,200}$/.test(token)) throw new InvalidInputError('--connect', expected, text);
  // of what else was typed nothing comes to a browser's command line
  return new URL(`http://${host}/?token=${token}`);
}

/**
 * The frames that a server tells, as JSON, until it ends or `signal` is aborted.
 *
 * @throws {UnreadableFileError} where nobody answers, or not as an inspector does
 */
export async function* framesFrom(url: URL, signal: AbortSignal): AsyncGenerator<string> {
  const events = new URL(`events${url.search}`, url);
  try {
    const response = await fetch(events, { signal });
    if (!response.ok || response.body === null)
      throw new UnreadableFileError(url.origin, (await response.text()).trim());
    let text = '';
    const decoder = new TextDecoder();
    for await (const piece of response.body) {
      text += decoder.decode(piece as Uint8Array, { stream: true });
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const data = text
          .slice(0, end)
          .split('\n')
          .find((line) => line.startsWith('data: '));
        text = text.slice(end + 2);
        if (data === undefined) continue;
        const frame = data.slice(6);
        yield frame;
        // nothing comes any more
        if (frame.startsWith('{"type":"ended"')) return;
      }
    }
  } catch (thrown) {
    if (signal.aborted) return;
    if (thrown instanceof UnreadableFileError) throw thrown;
    // why nobody answers stands behind what `fetch` throws
    throw new UnreadableFileError(url.origin, messageOf((thrown as { cause?: unknown }).cause ?? thrown));
  }
}
