import { Type, type Static } from 'typebox';
import { Fault } from '../../kit/errors.ts';
import type { ChatMessage, GenerateRequest } from '../inference/request.ts';
import { promptLengthMax } from './generate.ts';
import {
  AnswerFormat,
  AnyObject,
  formatOf,
  generateWhole,
  generationFields,
  GenerateOptions,
  ModelName,
} from './generation.ts';
import { defineTool } from './tool.ts';

const Content = Type.String({ maxLength: promptLengthMax });

const ToolCall = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 128 }),
  name: Type.String({ minLength: 1, maxLength: 128 }),
  arguments: AnyObject,
});

const Message = Type.Object({
  role: Type.Union([
    Type.Literal('system'),
    Type.Literal('user'),
    Type.Literal('assistant'),
    Type.Literal('tool'),
  ]),
  content: Content,
  toolCalls: Type.Optional(
    Type.Array(ToolCall, { maxItems: 64, description: 'what an assistant called' }),
  ),
  callId: Type.Optional(
    Type.String({ maxLength: 128, description: 'which call a tool message answers' }),
  ),
});

const OfferedTool = Type.Object({
  name: Type.String({ pattern: '^[A-Za-z0-9_.-]{1,128}$' }),
  description: Type.Optional(Type.String({ maxLength: 16_384 })),
  parameters: Type.Optional(AnyObject),
});

const ToolChoice = Type.Union([
  Type.Literal('auto'),
  Type.Literal('none'),
  Type.Literal('required'),
  Type.Object({ name: Type.String() }),
]);

const Input = Type.Object({
  messages: Type.Optional(
    Type.Array(Message, { maxItems: 2048, description: 'needed unless there is a prompt' }),
  ),
  prompt: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: promptLengthMax,
      description: 'one message of the user, after the others',
    }),
  ),
  model: Type.Optional(ModelName),
  tools: Type.Optional(
    Type.Array(OfferedTool, { maxItems: 128, description: 'what the model may call' }),
  ),
  toolChoice: Type.Optional(ToolChoice),
  format: Type.Optional(AnswerFormat),
  options: Type.Optional(GenerateOptions),
});

export const chat = defineTool({
  name: 'chat',
  title: 'Continue a chat',
  description: 'Answers the last message of a chat with a local model, which may call tools.',
  inputSchema: Input,
  outputSchema: Type.Object({
    output: Type.String(),
    model: Type.String(),
    toolCalls: Type.Array(ToolCall),
    ...generationFields,
  }),
  run: async (input, context) => {
    const model = await context.inference.find(input.model, {
      caller: context.caller,
      deadlineMs: input.options?.deadlineMs,
    });
    const { text, toolCalls, end } = await generateWhole(model, requestOf(input), context);
    const { finishReason, usage } = end;
    return {
      output: text,
      model: model.name,
      toolCalls: [...toolCalls],
      finishReason,
      usage,
    };
  },
});

function requestOf(input: Static<typeof Input>) {
  const { tools, toolChoice, format, options } = input;
  const request: GenerateRequest = {
    ...options,
    ...formatOf(format),
    ...(tools && tools.length > 0 ? { tools } : {}),
    ...(toolChoice === undefined ? {} : { toolChoice }),
    prompt: { messages: messagesOf(input) },
  };
  return request;
}

function messagesOf({ messages = [], prompt }: Static<typeof Input>): ChatMessage[] {
  const last = prompt === undefined ? [] : [{ role: 'user', content: prompt } as const];
  const all = [...messages.map(toMessage), ...last];
  if (all.length > 0) return all;
  throw new Fault('invalid', 'input.messages must hold a message, or input.prompt a text', {
    reason: 'validation_error',
    detail: { param: 'input.messages' },
  });
}

function toMessage(
  { role, content, toolCalls, callId }: Static<typeof Message>,
  at: number,
): ChatMessage {
  if (role === 'tool') {
    if (callId === undefined) throw missingCall(`input.messages.${at}.callId`);
    return { role, content, callId };
  }
  if (role !== 'assistant' || !toolCalls) return { role, content };
  return { role, content, toolCalls };
}

function missingCall(param: string): Fault {
  return new Fault('invalid', `${param} must say which call the message answers`, {
    reason: 'validation_error',
    detail: { param },
  });
}
