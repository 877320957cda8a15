import type { GeminiFarSide } from './options.js';

/** What the service makes of a `setup` that it took. */
export interface LiveSetup {
  readonly model: string;
  readonly speaks: boolean;
  /** Names of the declared tools, with whether the model waits for their results. */
  readonly tools: ReadonlyMap<string, { readonly blocking: boolean }>;
  readonly heard: boolean;
  readonly transcribed: boolean;
  readonly manualTurns: boolean;
  readonly interruptible: boolean;
  readonly silenceMs: number;
  readonly seeds: boolean;
  /** Whether content is taken once the session stands, or for the history alone. */
  readonly takesContent: boolean;
  readonly resumption: { readonly handle: string | undefined } | undefined;
}

/** Why a `setup` is refused: the close frame. */
export interface Refusal {
  readonly code: number;
  readonly reason: string;
}

/** Takes a `setup` that is well formed, or says why not. */
export function takeSetup(setup: Setup, options: GeminiFarSide): LiveSetup | Refusal {
  const { model = '', generationConfig = {}, tools = [], realtimeInputConfig = {}, historyConfig } = setup;
  const vertex = options.service === 'vertex';
  const invalid = (reason: string): Refusal => ({ code: 1007, reason });
  if (!(vertex ? /^projects\/.+\/models\/.+/ : /^models\/.+/).test(model)) {
    return invalid(`BidiGenerateContentRequest.setup.model: unexpected model name format: '${model}'`);
  }
  if (options.models !== undefined && !options.models.includes(model.replace(/^.*\//, ''))) {
    const reason = `${model} is not found for API version v1beta, or is not supported for bidiGenerateContent.`;
    return { code: 1008, reason };
  }
  const [modality = 'AUDIO', ...others] = generationConfig.responseModalities ?? [];
  if (others.length > 0) return invalid('Request contains an invalid argument.');
  const declared = new Map<string, { blocking: boolean }>();
  // From 3.8 on a tool that says nothing does not block; on Vertex none can say anything.
  const blockingByDefault = vertex || !/gemini-3\.[89]/.test(model);
  for (const { functionDeclarations = [] } of tools) {
    for (const { name = '', behavior, parameters, parametersJsonSchema } of functionDeclarations) {
      const at = `Function declaration '${name}'`;
      if (!/^[A-Za-z_][\w.:-]{0,127}$/.test(name)) return invalid(`${at}: invalid function name.`);
      if (declared.has(name)) return invalid(`${at}: duplicate function declaration found.`);
      if (parameters !== undefined && parametersJsonSchema !== undefined) {
        return invalid(`${at}: parameters and parameters_json_schema are mutually exclusive.`);
      }
      if (vertex && behavior !== undefined) return invalid(`${at}: behavior is not supported.`);
      const unsaid = behavior === undefined || behavior === 'UNSPECIFIED';
      declared.set(name, { blocking: unsaid ? blockingByDefault : behavior === 'BLOCKING' });
    }
  }
  const { automaticActivityDetection: detection = {}, activityHandling } = realtimeInputConfig;
  const seeds = historyConfig?.initialHistoryInClientContent === true;
  const resumption = setup.sessionResumption;
  if (!vertex && resumption?.transparent !== undefined) {
    return invalid('Transparent session resumption is not supported.');
  }
  return {
    model,
    speaks: modality === 'AUDIO',
    tools: declared,
    heard: setup.inputAudioTranscription !== undefined,
    transcribed: setup.outputAudioTranscription !== undefined,
    manualTurns: detection.disabled === true,
    interruptible: activityHandling !== 'NO_INTERRUPTION',
    silenceMs: detection.silenceDurationMs ?? 500,
    seeds,
    takesContent: !/gemini-3\.1/.test(model),
    resumption: resumption && { handle: resumption.handle },
  };
}

/** The fields of a `setup` that mean something here, as the strict reading leaves them. */
export interface Setup {
  readonly model?: string;
  readonly generationConfig?: { readonly responseModalities?: readonly string[] };
  readonly tools?: readonly {
    readonly functionDeclarations?: readonly {
      readonly name?: string;
      readonly behavior?: string;
      readonly parameters?: unknown;
      readonly parametersJsonSchema?: unknown;
    }[];
  }[];
  readonly realtimeInputConfig?: {
    readonly automaticActivityDetection?: { readonly disabled?: boolean; readonly silenceDurationMs?: number };
    readonly activityHandling?: string;
  };
  readonly sessionResumption?: { readonly handle?: string; readonly transparent?: boolean };
  readonly inputAudioTranscription?: unknown;
  readonly outputAudioTranscription?: unknown;
  readonly historyConfig?: { readonly initialHistoryInClientContent?: boolean };
}
