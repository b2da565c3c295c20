import { Fault } from '../../kit/errors.ts';
import { parseJsonBody } from '../../kit/http/json-body.ts';
import { allows, requirePermission } from '../../kit/permissions.ts';
import { registryContract } from '../../registry/contract.ts';
import { CallerCache } from '../caller-cache.ts';
import type { CallerClients } from '../caller-clients.ts';
import type { Caller } from '../caller.ts';
import type { ToolCall, ToolRules } from '../conversations/conversation.ts';
import { readToolList, type ListedTool, type ToolList } from './listed-tool.ts';
import { askRegistry, type RegistryClient } from './mcp-calls.ts';
import type { ChatTools, OfferedTool, ToolOutcome } from './tool.ts';
import { failed, readOutcome } from './tool-outcome.ts';
import { connectionOf, covers, planTools, toOffer } from './tool-rules.ts';

/** Whoever holds one of these may have models call tools. */
export const toolPermissions = ['registry:call', 'agent:execute'] as const;

const keptMs = 5_000;
const keptBytesMax = 64 * 1024 * 1024;
const listTimeoutMs = 5_000;
const callTimeoutMs = 120_000;
const argumentsCharsMax = 1024 * 1024;
/** Connections that are asked for by name when rules are checked. */
const lookupsMax = 16;

export interface RegistryToolsParts {
  readonly clients: CallerClients;
  readonly callTimeoutMs?: number;
}

/** The registry's tools, listed and called with the rights of whoever chats. */
export class RegistryTools implements ChatTools {
  readonly #parts: RegistryToolsParts;
  readonly #lists = new CallerCache<ToolList>({
    keptMs,
    sizeMax: keptBytesMax,
    sizeOf: ({ bytes }) => bytes,
  });

  constructor(parts: RegistryToolsParts) {
    this.#parts = parts;
  }

  /** All that there are now; the registry's refusals, and `unavailable` when it is away. */
  async list(caller: Caller): Promise<readonly ListedTool[]> {
    const { tools } = await this.#lists.get(caller, () => this.#readList(caller));
    return tools;
  }

  async offers(caller: Caller, rules: ToolRules): Promise<readonly OfferedTool[]> {
    if (rules.allow.length === 0 || !mayCall(caller)) return [];
    try {
      const { offered } = planTools(rules, await this.list(caller));
      return offered.map((tool) => toOffer(rules, tool));
    } catch (error) {
      if (isAway(error)) return [];
      throw error;
    }
  }

  // oxlint-disable-next-line eslint/max-params -- as its contract has it
  async call(
    caller: Caller,
    rules: ToolRules,
    call: ToolCall,
    signal: AbortSignal,
  ): Promise<ToolOutcome> {
    signal.throwIfAborted();
    try {
      return await this.#call(caller, { rules, call }, signal);
    } catch (error) {
      signal.throwIfAborted();
      return failed(wordsOf(error));
    }
  }

  async check(caller: Caller, { allow }: ToolRules): Promise<void> {
    if (allow.length === 0) return;
    const malformed = allow.filter((rule) => connectionOf(rule) === undefined);
    if (malformed.length > 0) {
      throw refusal('a tool is allowed as connection__tool or connection__*', malformed);
    }
    requirePermission(caller.identity.permissions, toolPermissions);
    const tools = await this.list(caller);
    const unknown = allow.filter((rule) => !tools.some((tool) => covers(rule, tool)));
    const away = await this.#findAway(caller, unknown, tools);
    const nothing = unknown.filter((rule) => !away.has(connectionOf(rule) ?? ''));
    if (nothing.length > 0) throw refusal('the registry has no such tool', nothing);
  }

  async #call(
    caller: Caller,
    { rules, call }: { readonly rules: ToolRules; readonly call: ToolCall },
    signal: AbortSignal,
  ): Promise<ToolOutcome> {
    const tools = await this.list(caller);
    const tool = tools.find(({ name }) => name === call.name);
    if (!tool) return failed(`There is no tool ${call.name} now.`);
    if (!rules.allow.some((rule) => covers(rule, tool))) {
      return failed(`This conversation may not use the tool ${call.name}.`);
    }
    const input = readArguments(call.arguments);
    if (!input) return failed('The arguments are not a JSON object: write them again.');
    requireSendable(input);
    const result = await askRegistry(
      this.#registry(caller),
      { method: 'tools/call', name: tool.id, input },
      { signal, timeoutMs: this.#parts.callTimeoutMs ?? callTimeoutMs },
    );
    return readOutcome(result);
  }

  async #readList(caller: Caller): Promise<ToolList> {
    const options = { timeoutMs: listTimeoutMs };
    return readToolList(
      await askRegistry(this.#registry(caller), { method: 'tools/list' }, options),
    );
  }

  /** Of the connections that rules name, those that are registered but whose tools are not known now. */
  async #findAway(
    caller: Caller,
    rules: readonly string[],
    tools: readonly ListedTool[],
  ): Promise<ReadonlySet<string>> {
    const present = new Set(tools.map(({ connection }) => connection));
    const names = new Set(rules.flatMap((rule) => connectionOf(rule) ?? []));
    const away = new Set<string>();
    for (const name of [...names].slice(0, lookupsMax)) {
      if (!present.has(name) && (await this.#isRegistered(caller, name))) away.add(name);
    }
    return away;
  }

  async #isRegistered(caller: Caller, name: string): Promise<boolean> {
    const query = { name: name.slice(0, 64), type: 'server', limit: 1, offset: 0 } as const;
    const options = { timeoutMs: listTimeoutMs };
    const { connections } = await this.#registry(caller).listConnections({ query }, options);
    return connections.some((one) => one.name === name && one.status !== 'disconnected');
  }

  #registry(caller: Caller): RegistryClient {
    return this.#parts.clients(registryContract, caller);
  }
}

function mayCall({ identity }: Caller): boolean {
  return toolPermissions.some((permission) => allows(identity.permissions, permission));
}

function refusal(message: string, tools: readonly string[]): Fault {
  return new Fault('invalid', `${message}: ${tools.slice(0, 5).join(', ')}`, {
    reason: 'tool_not_found',
    detail: { field: 'tools.allow', tools },
  });
}

/** Refusals of one who asks for tools that say nothing of the question itself. */
const awayCodes: ReadonlySet<string> = new Set([
  'unavailable',
  'deadline',
  'upstream',
  'exhausted',
  'unauthenticated',
  'forbidden',
]);

function isAway(error: unknown): boolean {
  return error instanceof Fault && awayCodes.has(error.code);
}

function wordsOf(error: unknown): string {
  const fault = Fault.from(error);
  if (fault.code === 'deadline') {
    return 'The tool did not answer in time. Whether it did its work is not known.';
  }
  if (fault.code === 'internal') return 'The tool could not be called.';
  return `The tool could not be called: ${fault.message}`;
}

/** Throws `invalid` for what the registry would not read, in words that help to write it again. */
function requireSendable(input: Readonly<Record<string, unknown>>): void {
  const what = 'the JSON of the arguments';
  try {
    parseJsonBody(JSON.stringify({ params: { arguments: input } }));
  } catch (cause) {
    // Nested too deeply even to be written.
    if (cause instanceof RangeError) throw new Fault('invalid', `${what} is nested too deeply`);
    throw new Fault('invalid', Fault.from(cause).message.replace('the body', what), { cause });
  }
}

/** Models write nothing at all for a tool without parameters. */
function readArguments(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text.trim() === '') return {};
  if (text.length > argumentsCharsMax) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return { ...value };
  } catch {
    return undefined;
  }
}
