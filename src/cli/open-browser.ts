import { spawn } from 'node:child_process';

/** Opens an address in the user's browser, where there is one. Never fails: the address was printed. */
export function openBrowser(url: string): void {
  const [command, ...args] = commandOf(url);
  try {
    const child = spawn(command, args, { stdio: 'ignore', detached: true });
    child.on('error', () => {});
    child.unref();
  } catch {
    // no process can be started: the address was printed
  }
}

function commandOf(url: string): [command: string, ...args: string[]] {
  switch (process.platform) {
    case 'darwin':
      return ['open', url];
    case 'win32':
      // an empty title, since the first text in quotation marks is one
      return ['cmd', '/c', 'start', '""', url.replaceAll('&', '^&')];
    default:
      return ['xdg-open', url];
  }
}
