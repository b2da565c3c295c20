import type {
  AssistantPart,
  ImagePart,
  Message,
  TextPart,
  ToolResultPart,
  UserPart,
} from '../../conversation/request.ts';
import { CallNames } from '../call-names.ts';
import { parseArguments, unsayable } from '../untrusted.ts';
import type { Json } from '../json.ts';

/** The conversation; each result of a tool is a message of its own. */
export function writeMessages(messages: readonly Message[]): readonly Json[] {
  const names = new CallNames();
  return messages.flatMap((message) => {
    if (message.role === 'tool') return message.parts.map((part) => writeResult(part, names));
    if (message.role === 'assistant') return [writeAssistant(message.parts, names)];
    return [{ role: message.role, ...writeContent(message.parts) }];
  });
}

/** Texts in one, and images beside them: that is all that Ollama's messages hold. */
function writeContent(parts: readonly (UserPart | TextPart | ImagePart)[]): Json {
  const texts: string[] = [];
  const images: string[] = [];
  for (const part of parts) {
    if (part.type === 'text') texts.push(part.text);
    else if (part.type === 'image' && part.source.kind === 'bytes') images.push(part.source.base64);
    else throw unsayable(part.type);
  }
  const content = texts.join('\n');
  return images.length > 0 ? { content, images } : { content };
}

function writeAssistant(parts: readonly AssistantPart[], names: CallNames): Json {
  names.note(parts);
  let content = '';
  let thinking = '';
  const calls: Json[] = [];
  for (const part of parts) {
    if (part.type === 'reasoning') thinking += part.text;
    else if (part.type !== 'tool-call') content += part.text;
    else {
      const { id, name } = part;
      calls.push({ id, function: { name, arguments: parseArguments(part.arguments) } });
    }
  }
  return {
    role: 'assistant',
    content,
    ...(thinking === '' ? {} : { thinking }),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
}

/** Ollama has no field for a failed tool, so its message says it. */
function writeResult(part: ToolResultPart, names: CallNames): Json {
  const { callId, isError } = part;
  const written = writeContent(part.content);
  return {
    role: 'tool',
    ...written,
    ...(isError ? { content: `Error: ${String(written.content)}` } : {}),
    tool_name: names.take(callId),
    tool_call_id: callId,
  };
}
