import type {
  ChatRequest,
  OutputFormat,
  Reasoning,
  Tool,
  ToolChoice,
} from '../../conversation/request.ts';
import { budgetOf, effortOf, nearestEffort } from '../effort.ts';
import type { Json } from '../json.ts';
import { writeContents, writeSystem } from './contents.ts';
import { traitsOf, type ModelTraits } from './models.ts';

/** The body of a request, for the model of that name. */
export function writeChat(request: ChatRequest, model: string): Json {
  const traits = traitsOf(model);
  const systemInstruction = writeSystem(request);
  const generationConfig = writeConfig(request, traits);
  return {
    contents: writeContents(request, traits),
    ...(systemInstruction ? { systemInstruction } : {}),
    ...writeTools(request),
    ...(Object.keys(generationConfig).length > 0 ? { generationConfig } : {}),
  };
}

function writeConfig(request: ChatRequest, traits: ModelTraits): Json {
  const { stop, choices = 1, reasoning, output } = request;
  const config: Record<string, unknown> = {
    maxOutputTokens: request.maxTokens,
    temperature: request.temperature,
    topP: request.topP,
    topK: request.topK,
    seed: request.seed,
    frequencyPenalty: request.frequencyPenalty || undefined,
    presencePenalty: request.presencePenalty || undefined,
    stopSequences: stop && stop.length > 0 ? stop : undefined,
    candidateCount: choices > 1 ? choices : undefined,
    thinkingConfig: reasoning && writeThinking(reasoning, traits),
    ...writeOutput(output),
  };
  for (const name in config) if (config[name] === undefined) delete config[name];
  return config;
}

function writeThinking(reasoning: Reasoning, traits: ModelTraits): Json | undefined {
  const { isThird, canThink, levels } = traits;
  // What does not think needs not be told not to.
  if (!canThink) return undefined;
  const budget = budgetOf(reasoning);
  if (budget === undefined) return { thinkingBudget: 0 };
  if (!isThird) return { thinkingBudget: budget, includeThoughts: true };
  return { thinkingLevel: nearestEffort(effortOf(reasoning), levels), includeThoughts: true };
}

function writeOutput(output: OutputFormat | undefined): Json {
  if (!output) return {};
  const responseMimeType = 'application/json';
  return output.type === 'json'
    ? { responseMimeType }
    : { responseMimeType, responseJsonSchema: output.schema };
}

function writeTools({ tools, toolChoice }: ChatRequest): Json {
  if (tools.length === 0) return {};
  const isStrict = tools.some((tool) => tool.isStrict);
  const written = { tools: [{ functionDeclarations: tools.map(writeTool) }] };
  if (toolChoice === undefined && !isStrict) return written;
  const functionCallingConfig = writeChoice(toolChoice ?? 'auto', isStrict);
  return { ...written, toolConfig: { functionCallingConfig } };
}

function writeTool({ name, description, parameters }: Tool): Json {
  const takesNone = Object.keys(parameters).length === 0;
  return {
    name,
    description: description ?? '',
    ...(takesNone ? {} : { parametersJsonSchema: parameters }),
  };
}

/** Google holds calls to their schemas for all tools or for none. */
function writeChoice(choice: ToolChoice, isStrict: boolean): Json {
  if (typeof choice === 'object') return { mode: 'ANY', allowedFunctionNames: [choice.name] };
  if (choice === 'auto') return { mode: isStrict ? 'VALIDATED' : 'AUTO' };
  return { mode: choice === 'none' ? 'NONE' : 'ANY' };
}
