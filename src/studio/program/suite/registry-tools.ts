import { createHash } from 'node:crypto';
import { Fault } from '../../../kit/errors.ts';
import type { ToolOffer } from './model.ts';
import type { SuiteCalls } from './suite-calls.ts';

/** The stateless revision of MCP: one request, answered as JSON. */
const revision = '2026-07-28';
const meta = {
  'io.modelcontextprotocol/protocolVersion': revision,
  'io.modelcontextprotocol/clientInfo': { name: 'ennead-studio-agent', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const callTimeoutMs = 120_000;
const descriptionChars = 1_024;
const anyObject = { type: 'object', additionalProperties: true } as const;

export interface RegistryTool {
  readonly offer: ToolOffer;
  /** What the tool said, as text; Faults are told to the model by whoever calls. */
  readonly call: (input: Readonly<Record<string, unknown>>) => Promise<string>;
}

/** Those tools of the registry that a task names, by `connection__tool`. */
export class RegistryTools {
  readonly #calls: SuiteCalls;
  readonly #names: ReadonlySet<string>;

  constructor(calls: SuiteCalls, names: readonly string[]) {
    this.#calls = calls;
    this.#names = new Set(names);
  }

  /** Fault `invalid` when the registry has not all of them. */
  async list(): Promise<readonly RegistryTool[]> {
    if (this.#names.size === 0) return [];
    const { tools } = (await this.#ask('tools/list')) as { readonly tools?: readonly Listed[] };
    const found = (tools ?? []).filter(({ name }) => this.#names.has(name));
    const missing = [...this.#names].filter((name) => !found.some((tool) => tool.name === name));
    if (missing.length > 0) {
      throw new Fault('invalid', `The registry has no tool ${missing.join(', ')} now.`);
    }
    return found.map((tool) => this.#toolOf(tool));
  }

  #toolOf({ name, description = '', inputSchema = anyObject }: Listed): RegistryTool {
    return {
      offer: {
        name: fitName(name),
        description: description.slice(0, descriptionChars),
        parameters: inputSchema,
      },
      call: async (input) => textOf(await this.#ask('tools/call', { name, arguments: input })),
    };
  }

  async #ask(method: string, params: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
    const { name } = params;
    const answer = (await this.#calls.json({
      method: 'POST',
      path: '/mcp',
      body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } },
      headers: {
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': revision,
        'mcp-method': method,
        ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
      },
      timeoutMs: callTimeoutMs,
    })) as { readonly result?: unknown; readonly error?: { readonly message?: string } };
    if (!answer.error) return answer.result ?? {};
    throw new Fault('upstream', answer.error.message ?? 'The registry refused the call.');
  }
}

interface Listed {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: Readonly<Record<string, unknown>>;
}

/** Providers take names of 64 of these letters; another gets a mark that no other name has. */
function fitName(name: string): string {
  if (/^[a-zA-Z0-9_-]{1,64}$/.test(name)) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 55)}_${digest}`;
}

function textOf(result: unknown): string {
  const { content = [], isError } = result as {
    readonly content?: readonly { readonly type?: string; readonly text?: string }[];
    readonly isError?: boolean;
  };
  const text = content
    .map((block) => (block.type === 'text' ? (block.text ?? '') : `[${block.type ?? 'content'}]`))
    .join('\n');
  return isError ? `The tool failed: ${text}` : text;
}
