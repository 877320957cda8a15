/** Resolves when somebody at the terminal, or whoever manages the process, wants it to end. */
export function untilInterrupted(): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      process.removeListener('SIGINT', end);
      process.removeListener('SIGTERM', end);
      resolve();
    };
    process.on('SIGINT', end);
    process.on('SIGTERM', end);
  });
}
