/** A real Chromium of the system. It is never downloaded. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** Where it is, or `undefined` where there is none: then the tests are skipped, but not where the checks are run for everybody. */
export function chromiumPath(): string | undefined {
  const found = onPath();
  if (found !== undefined) return found;
  const missing =
    'no chromium on the PATH: install one (Debian: apt-get install chromium) to run the session in a browser';
  if (process.env['CI'] === 'true') throw new TypeError(missing);
  console.warn(`skipped: ${missing}`);
  return undefined;
}

function onPath(): string | undefined {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    for (const name of names) {
      const path = join(folder, name);
      try {
        accessSync(path, constants.X_OK);
        return path;
      } catch {
        // not here
      }
    }
  }
  return undefined;
}

/** Starts it, with nothing that talks to the network by itself. */
export function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
