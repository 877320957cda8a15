import { spawnSync } from 'node:child_process';

/** Whether a small disk can be mounted here, which takes a Linux and the rights. */
export const canMount: boolean = process.platform === 'linux' && process.getuid?.() === 0 && mounts();

function mounts(): boolean {
  const at = spawnSync('mktemp', ['-d'], { encoding: 'utf8' }).stdout.trim();
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'commitpoint', at]);
  if (status === 0) spawnSync('umount', [at]);
  spawnSync('rmdir', [at]);
  return status === 0;
}
