/** How long audio plays, as far as its media type tells. */

interface Encoding {
  readonly bytesPerMs: number;
}

const unknown: Encoding = { bytesPerMs: 0 };
let last: { readonly mediaType: string; readonly encoding: Encoding } = { mediaType: '', encoding: unknown };

/** Milliseconds of base64 audio; `undefined` where the media type does not say how many bytes are one. */
export function audioMs(data: string, mediaType: string): number | undefined {
  if (last.mediaType !== mediaType) last = { mediaType, encoding: encodingOf(mediaType) };
  const { bytesPerMs } = last.encoding;
  return bytesPerMs === 0 ? undefined : bytesIn(data) / bytesPerMs;
}

/** PCM of 16 bits with a rate, and the two encodings of telephony. */
function encodingOf(mediaType: string): Encoding {
  const [type = '', ...parameters] = mediaType.toLowerCase().split(';');
  const named = new Map(
    parameters.map((parameter) => {
      const [name = '', value = ''] = parameter.split('=');
      return [name.trim(), Number(value.trim().replace(/^"(.*)"$/, '$1'))];
    }),
  );
  const channels = named.get('channels') ?? 1;
  switch (type.trim()) {
    case 'audio/pcm':
    case 'audio/l16':
      return encoding(named.get('rate'), 2 * channels);
    case 'audio/pcmu':
    case 'audio/pcma':
      return encoding(named.get('rate') ?? 8000, channels);
    default:
      return unknown;
  }
}

function encoding(rate: number | undefined, bytesPerFrame: number): Encoding {
  const bytesPerMs = ((rate ?? 0) * bytesPerFrame) / 1000;
  return Number.isFinite(bytesPerMs) && bytesPerMs > 0 ? { bytesPerMs } : unknown;
}

function bytesIn(base64: string): number {
  let { length } = base64;
  while (length > 0 && base64[length - 1] === '=') length--;
  return Math.floor((length * 3) / 4);
}
