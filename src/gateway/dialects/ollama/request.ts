import type { ChatRequest, OutputFormat, Reasoning, Tool } from '../../conversation/request.ts';
import { effortOf } from '../effort.ts';
import type { Json } from '../json.ts';
import { writeMessages } from './messages.ts';

/** Fields of Ollama's own that a request may bring along. */
export const nativeFields: ReadonlySet<string> = new Set(['keep_alive', 'options']);

/**
 * The body of a request, for the model of that name. A prompt that does not fit is to be refused, not
 * cut: by default Ollama drops the oldest messages and tells nobody.
 */
export function writeChat(request: ChatRequest, model: string): Json {
  const { tools, toolChoice, output, reasoning, extras, isStream } = request;
  const options = writeOptions(request);
  const hasTools = tools.length > 0 && toolChoice !== 'none';
  return {
    model,
    messages: writeMessages(request.messages),
    stream: isStream,
    truncate: false,
    shift: false,
    ...(hasTools ? { tools: tools.map(writeTool) } : {}),
    ...(output ? { format: writeFormat(output) } : {}),
    ...(reasoning ? { think: writeThink(reasoning) } : {}),
    ...(extras.keep_alive === undefined ? {} : { keep_alive: extras.keep_alive }),
    ...(Object.keys(options).length > 0 ? { options } : {}),
  };
}

function writeOptions(request: ChatRequest): Json {
  const { stop, extras } = request;
  const options: Record<string, unknown> = {
    ...(extras.options as Json | undefined),
    num_predict: request.maxTokens,
    temperature: request.temperature,
    top_p: request.topP,
    top_k: request.topK,
    seed: request.seed,
    frequency_penalty: request.frequencyPenalty,
    presence_penalty: request.presencePenalty,
    stop: stop && stop.length > 0 ? stop : undefined,
  };
  for (const name in options) if (options[name] === undefined) delete options[name];
  return options;
}

function writeTool({ name, description, parameters }: Tool): Json {
  const said = description === undefined ? {} : { description };
  return { type: 'function', function: { name, ...said, parameters } };
}

function writeFormat(output: OutputFormat): unknown {
  return output.type === 'json' ? 'json' : output.schema;
}

/** Models without levels take one as yes. */
function writeThink(reasoning: Reasoning): boolean | string {
  const effort = effortOf(reasoning);
  if (effort === 'none') return false;
  if (effort === 'minimal') return 'low';
  return effort === 'xhigh' ? 'high' : effort;
}
