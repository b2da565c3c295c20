import type { AnswerFormat, GenerateRequest, Tool } from '../inference/request.ts';
import { present } from '../optional-fields.ts';
import { invalidField, refuseAsked, unsupported } from '../unsupported.ts';
import type { ChatRequest } from './chat-schemas.ts';
import { toMessages } from './messages.ts';
import { toSampling } from './sampling.ts';
import { refuseUnsupported } from './unsupported-fields.ts';

/** Fields of OpenAI's chat API alone that change the answer and that the runtimes do not know. */
const unsupportedByChats = [
  'functions',
  'function_call',
  'logprobs',
  'top_logprobs',
  'audio',
  'prediction',
  'web_search_options',
  'echo',
];

/** The request in the runtime's words; throws `invalid` naming what it cannot say. */
export function toGenerateRequest(body: ChatRequest): GenerateRequest {
  refuseOfChats(body);
  const tools = body.tools?.length ? body.tools.map(toTool) : undefined;
  return {
    prompt: { messages: toMessages(body.messages) },
    ...toSampling(body),
    ...present({
      tools,
      toolChoice: toToolChoice(body.tool_choice, tools ?? []),
      format: toFormat(body.response_format),
      maxTokens: body.max_completion_tokens ?? body.max_tokens,
    }),
  };
}

function refuseOfChats(body: ChatRequest): void {
  refuseUnsupported(body);
  refuseAsked(body, unsupportedByChats);
  // Fields beyond the schema come as they were sent.
  const { modalities } = body as { modalities?: unknown };
  if (Array.isArray(modalities) && modalities.some((modality) => modality !== 'text')) {
    throw unsupported('modalities', 'modalities other than text');
  }
}

function toTool({ function: { name, description, parameters, strict } }: RequestTool): Tool {
  return { name, ...present({ description, parameters, isStrict: strict }) };
}

type RequestTool = NonNullable<ChatRequest['tools']>[number];

function toToolChoice(
  choice: ChatRequest['tool_choice'],
  tools: readonly Tool[],
): GenerateRequest['toolChoice'] | undefined {
  if (!choice) return undefined;
  if (choice === 'none' || choice === 'auto') return tools.length > 0 ? choice : undefined;
  if (tools.length === 0) throw invalidField('tool_choice', 'needs tools to choose from');
  if (choice === 'required') return choice;
  const { name } = choice.function;
  if (!tools.some((tool) => tool.name === name)) {
    throw invalidField('tool_choice', `names ${name}, which is not among the tools`);
  }
  return { name };
}

function toFormat(format: ChatRequest['response_format']): AnswerFormat | undefined {
  if (!format || format.type === 'text') return undefined;
  if (format.type === 'json_object') return { type: 'json' };
  const schema = format.json_schema?.schema;
  if (!schema) throw invalidField('response_format.json_schema.schema', 'must be given');
  return { type: 'json', schema };
}
