import { gatewayContract } from '../../gateway/contract.ts';
import type { CallerClients } from '../caller-clients.ts';
import type { Caller } from '../caller.ts';
import type { VoiceAction } from './action.ts';
import { soundOf } from './speech.ts';

/** What a model takes a command for. */
export interface Classifier {
  /** Undefined for what is no command: a question, or something that nobody understands. */
  classify(caller: Caller, transcription: string): Promise<VoiceAction | undefined>;
}

export interface GatewayClassifierOptions {
  readonly clients: CallerClients;
  /** The gateway's choice when absent. */
  readonly model?: string;
}

const actions = [
  'new_conversation',
  'open_conversation',
  'rename_conversation',
  'delete_conversation',
  'list_conversations',
  'search_conversations',
  'list_agents',
  'list_models',
  'list_tools',
  'agent_status',
  'ask_agent',
  'task_status',
  'stop',
  'read_answer',
  'help',
] as const;
type ActionName = (typeof actions)[number];

interface Classification {
  readonly action: ActionName;
  readonly name: string;
  readonly text: string;
}

const schema = {
  type: 'object',
  properties: {
    action: { type: 'string', enum: [...actions, 'question'] },
    name: { type: 'string', description: 'the conversation or agent that is meant, else empty' },
    text: { type: 'string', description: 'the title, the task or what is searched, else empty' },
    confidence: { type: 'number', minimum: 0, maximum: 1 },
  },
  required: ['action', 'name', 'text', 'confidence'],
  additionalProperties: false,
};

const instructions = `You sort spoken commands to a chat application. Answer with JSON only:
{"action": …, "name": …, "text": …, "confidence": 0..1}. Copy name and text from the command, in its own words.
Actions: new_conversation (text: its title or empty); open_conversation (name); rename_conversation (name or empty for the current one, text: the new title); delete_conversation (name or empty); list_conversations; search_conversations (text); list_agents; list_models; list_tools; agent_status (name); ask_agent (name: the agent, text: the task); task_status; stop; read_answer; help; question (anything else: a question, a wish, small talk).`;

const timeoutMs = 8_000;
const surelyFrom = 0.6;
/** What is longer is something to say, not a command. */
const commandChars = 500;

/** Sorts commands by a model of the gateway, with the caller's rights and budget. */
export class GatewayClassifier implements Classifier {
  readonly #options: GatewayClassifierOptions;

  constructor(options: GatewayClassifierOptions) {
    this.#options = options;
  }

  async classify(caller: Caller, transcription: string): Promise<VoiceAction | undefined> {
    if (transcription.length > commandChars) return undefined;
    const { clients, model } = this.#options;
    const body = {
      ...(model === undefined ? {} : { model }),
      messages: [
        { role: 'system', content: instructions },
        { role: 'user', content: transcription },
      ],
      temperature: 0,
      max_tokens: 200,
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'command', strict: true, schema },
      },
    };
    const gateway = clients(gatewayContract, caller);
    const { choices } = await gateway.openAiCompletions({ body }, { timeoutMs });
    const found = readClassification(choices[0]?.message.content ?? '');
    return found && isGrounded(found, transcription) ? makers[found.action](found) : undefined;
  }
}

function readClassification(content: string): Classification | undefined {
  const value = parse(/\{[^{}]*\}/.exec(content.slice(0, 4_000))?.[0] ?? '');
  const { action, name, text, confidence } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const known = actions.find((one) => one === action);
  if (!known || typeof confidence !== 'number' || confidence < surelyFrom) return undefined;
  return { action: known, name: textOf(name), text: textOf(text) };
}

/** A model may only have heard what was said. */
function isGrounded({ name, text }: Classification, transcription: string): boolean {
  const said = soundOf(transcription);
  return said.includes(soundOf(name)) && said.includes(soundOf(text));
}

type Make = (found: Classification) => VoiceAction | undefined;

/** An action whose name or text is missing is none. */
const makers: Readonly<Record<ActionName, Make>> = {
  new_conversation: ({ text }) => ({
    action: 'new_conversation',
    ...(text === '' ? {} : { title: text }),
  }),
  open_conversation: ({ name }) =>
    name === '' ? undefined : { action: 'open_conversation', name },
  rename_conversation: ({ name, text }) =>
    text === '' ? undefined : { action: 'rename_conversation', ...named(name), title: text },
  delete_conversation: ({ name }) => ({ action: 'delete_conversation', ...named(name) }),
  list_conversations: () => ({ action: 'list_conversations' }),
  search_conversations: ({ text }) =>
    text === '' ? undefined : { action: 'search_conversations', query: text },
  list_agents: () => ({ action: 'list_agents' }),
  list_models: () => ({ action: 'list_models' }),
  list_tools: () => ({ action: 'list_tools' }),
  agent_status: ({ name }) => (name === '' ? undefined : { action: 'agent_status', name }),
  ask_agent: ({ name, text }) =>
    name === '' || text === '' ? undefined : { action: 'ask_agent', name, task: text },
  task_status: () => ({ action: 'task_status' }),
  stop: () => ({ action: 'stop' }),
  read_answer: () => ({ action: 'read_answer' }),
  help: () => ({ action: 'help' }),
};

function named(name: string) {
  return name === '' ? {} : { name };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
