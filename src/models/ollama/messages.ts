import type { ChatMessage, Tool as ModelTool, ToolCall } from '../inference/request.ts';
import { present } from '../optional-fields.ts';
import { invalidField, unsupported } from '../unsupported.ts';
import type { Message, Tool } from './schemas.ts';

/** A chat in the runtime's words; throws `invalid` naming the message that makes no sense. */
export function toMessages(messages: readonly Message[]): ChatMessage[] {
  const calls = new OpenCalls();
  return messages.map((message, at) => {
    const place = `messages[${at}]`;
    if (message.images?.length) throw unsupported(`${place}.images`);
    const { role } = message;
    const content = message.content ?? '';
    if (role === 'assistant')
      return { role, content, ...present({ toolCalls: calls.open(message) }) };
    if (role === 'tool') return { role, content, callId: calls.answer(message, place) };
    return { role, content };
  });
}

/** A tool as the runtime knows it, from how Ollama writes it. */
export function toTool({ function: { name, description, parameters } }: Tool): ModelTool {
  return { name, ...present({ description, parameters }) };
}

/** Calls that no message has answered yet. Ollama's clients need not name them, so order tells. */
class OpenCalls {
  readonly #open: ToolCall[] = [];
  #count = 0;

  open({ tool_calls: calls }: Message): ToolCall[] | undefined {
    if (!calls?.length) return undefined;
    const opened = calls.map(({ id, function: { name, arguments: fields } }) => ({
      id: id ?? `call_${this.#count++}`,
      name,
      arguments: fields ?? {},
    }));
    this.#open.push(...opened);
    return opened;
  }

  /** The id of the call that a tool's message answers: the one it names, else the oldest that fits. */
  answer({ tool_call_id: id, tool_name: name }: Message, place: string): string {
    const at = this.#open.findIndex(
      (call) => (!id || call.id === id) && (!name || call.name === name),
    );
    const [call] = at < 0 ? [] : this.#open.splice(at, 1);
    if (call) return call.id;
    throw invalidField(place, 'answers no tool call before it');
  }
}
