/** Whether a text is base64 with its padding: what every decoder reads the same way. */
export function isBase64(text: string): boolean {
  return text.length % 4 === 0 && alphabet.test(text);
}

const alphabet = /^[A-Za-z0-9+/]*={0,2}$/;

/** How many bytes a base64 text stands for. */
export function byteLength(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return Math.floor((text.length * 3) / 4) - padding;
}
