/** The files of the page, read once: what is not among them is not served, whatever an address says. */
import { readdir, readFile } from 'node:fs/promises';

export interface PageFile {
  readonly type: string;
  readonly body: Uint8Array;
}

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

/** The files of a folder and the folders in it, by their path below it; none where there is no such folder. */
export async function pageFiles(folder: URL): Promise<ReadonlyMap<string, PageFile>> {
  const files = new Map<string, PageFile>();
  const read = async (below: string): Promise<void> => {
    for (const entry of await readdir(new URL(below === '' ? '.' : below, folder), { withFileTypes: true })) {
      if (entry.isDirectory()) await read(`${below}${entry.name}/`);
      const type = types[entry.name.slice(entry.name.lastIndexOf('.') + 1)];
      if (!entry.isFile() || type === undefined) continue;
      files.set(`${below}${entry.name}`, { type, body: await readFile(new URL(`${below}${entry.name}`, folder)) });
    }
  };
  try {
    await read('');
  } catch {
    // frames are told all the same
    files.clear();
  }
  return files;
}
