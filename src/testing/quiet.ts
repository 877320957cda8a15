/**
 * Resolves when all that was ready to run has run: every promise reaction that
 * was due, and those that they made due. Nothing is waited for by time.
 */
export function quiet(): Promise<void> {
  const { setImmediate } = globalThis as { setImmediate?: (callback: () => void) => void };
  if (setImmediate !== undefined) return new Promise((resolve) => setImmediate(resolve));
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    const heard = () => {
      port1.close();
      resolve();
    };
    (port1 as unknown as EventTarget).addEventListener('message', heard, { once: true });
    port1.start();
    port2.postMessage(undefined);
  });
}
