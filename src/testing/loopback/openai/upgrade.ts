import type { UpgradeAnswer, UpgradeRequest } from '../server.js';
import type { FakeDialect } from './dialects.js';
import type { OpenAiLoopbackOptions } from './script.js';

/** Where each service listens. */
const paths: Readonly<Record<FakeDialect, string>> = {
  openai: '/v1/realtime',
  azure: '/openai/v1/realtime',
  'azure-voice-live': '/voice-live/realtime',
  xai: '/v1/realtime',
};

const keyProtocols: Readonly<Partial<Record<FakeDialect, string>>> = {
  openai: 'openai-insecure-api-key.',
  xai: 'xai-client-secret.',
};

/** Takes or refuses the request for a connection, as the service does: path, model, key, subprotocol. */
export function upgrade(request: UpgradeRequest, options: OpenAiLoopbackOptions): UpgradeAnswer {
  const { dialect = 'openai', keys, models } = options;
  const { path, query, protocols } = request;
  if (path !== paths[dialect]) return refuse(404, 'not_found', `Invalid URL (GET ${path})`);
  const model = query.get('model');
  const named = [model, query.get('call_id'), query.get('intent')].filter((value) => value !== null && value !== '');
  if (named.length !== 1) return refuse(400, 'missing_model', 'You must provide a model parameter.');
  if (dialect === 'azure-voice-live' && query.get('api-version') === null) {
    return refuse(400, 'missing_api_version', 'You must provide an api-version.');
  }
  const key = keyOf(request, dialect);
  if (key === undefined) return refuse(401, null, 'Missing bearer or basic authentication in header');
  if (keys !== undefined && !keys.includes(key)) {
    // As the real one does: it gives the key back, a part of it hidden. Here all of it is given, the worse case.
    return refuse(401, 'invalid_api_key', `Incorrect API key provided: ${key}.`);
  }
  if (model !== null && models !== undefined && !models.includes(model)) {
    return refuse(403, 'model_not_found', `The model \`${model}\` does not exist or you do not have access to it.`);
  }
  if (protocols.length === 0) return { accept: true };
  if (!protocols.includes('realtime')) return refuse(400, 'invalid_subprotocol', 'Expected subprotocol realtime.');
  return { accept: true, protocol: 'realtime' };
}

function keyOf({ headers, query, protocols }: UpgradeRequest, dialect: FakeDialect): string | undefined {
  const bearer = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
  if (bearer !== undefined) return bearer;
  if (dialect === 'azure' || dialect === 'azure-voice-live') {
    return headers['api-key'] ?? query.get('api-key') ?? undefined;
  }
  const prefix = keyProtocols[dialect] ?? '';
  return protocols.find((protocol) => protocol.startsWith(prefix))?.slice(prefix.length);
}

export function refuse(status: number, code: string | null, message: string): UpgradeAnswer {
  const error = { message, type: 'invalid_request_error', code, param: null };
  return { refuse: status, body: JSON.stringify({ error }) };
}
