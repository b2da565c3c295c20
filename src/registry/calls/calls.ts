import type { CallToolResult, Tool } from '@modelcontextprotocol/client';
import { Fault } from '../../kit/errors.ts';
import type { Connection } from '../connections/connection.ts';
import type { EventSink } from '../events.ts';
import { isUnsent } from '../links/link-faults.ts';
import type { ExchangeOptions } from '../links/link.ts';
import { isMissingTool, requireTool } from './agreed-tools.ts';
import { ArgumentChecks } from './arguments.ts';
import type { Errand, Exchanges } from './exchange.ts';

type Input = Readonly<Record<string, unknown>>;

export interface ToolCall extends Errand {
  /** The server's own name of it. */
  readonly tool: string;
  readonly input: Input;
}

/** How one is chosen of several connections that offer the same. */
export interface ChoiceWish {
  readonly strategy?: string | undefined;
  /** The same key goes to the same connection, with the strategy `consistent-hash`. */
  readonly key?: string | undefined;
  /** Those that were tried already. */
  readonly excluded: ReadonlySet<string>;
}

/** Chooses a connection that offers a capability; undefined when none is left. */
export type Choose = (capability: string, wish: ChoiceWish) => Connection | undefined;

/** Has a server asked anew what it has, unless that was done moments ago. */
export interface Refreshing {
  refresh(connectionId: string, options: ExchangeOptions): Promise<void>;
}

export interface CallsParts {
  readonly exchanges: Exchanges;
  /** Without it what was learned last is believed. */
  readonly learning?: Refreshing | undefined;
  readonly choose: Choose;
  readonly events: EventSink;
}

/** What a tool answered, and who. */
export interface CalledTool {
  readonly connectionId: string;
  readonly tool: string;
  readonly outcome: CallToolResult;
  readonly durationMs: number;
}

/** Of connections that one call tries to reach. */
const attemptsMax = 3;
/** Of connections that turn out not to have the tool after all, which costs little. */
const missesMax = 20;
/** What is called by a name that is not known waits no longer for the server to say it anew. */
const refreshMsMax = 5_000;

/** Calls of tools by connection, and by name wherever it is offered. */
export class Calls {
  readonly #parts: CallsParts;
  readonly #checks = new ArgumentChecks();

  constructor(parts: CallsParts) {
    this.#parts = parts;
  }

  /**
   * Faults: those of `Exchanges` and `Link`, `tool_not_found`, `tool_changed` for a tool in quarantine,
   * `invalid_arguments`.
   */
  async call(connectionId: string, call: ToolCall): Promise<CalledTool> {
    const tool = await this.#findTool(connectionId, call);
    if (tool) await this.#checks.require(tool, call.input);
    return this.#run(this.#parts.exchanges.requireCallable(connectionId), call);
  }

  /** Calls it where `choose` says; elsewhere only while nothing was sent. */
  async callAnywhere(call: ToolCall, wish: Omit<ChoiceWish, 'excluded'>): Promise<CalledTool> {
    const excluded = new Set<string>();
    let failure: unknown;
    let misses = 0;
    while (mayTry(excluded.size, misses) && !call.signal.aborted) {
      const connection = this.#parts.choose(call.tool, { ...wish, excluded });
      if (!connection || excluded.has(connection.id)) break;
      excluded.add(connection.id);
      let isSent = false;
      try {
        return await this.call(connection.id, { ...call, onSending: () => (isSent = true) });
      } catch (error) {
        const isMissing = isMissingTool(error);
        if (isMissing) misses += 1;
        // That one has it not says less than how another failed.
        failure = isMissing ? (failure ?? error) : error;
        if (!isElsewhereWorth(error, isSent)) break;
      }
    }
    if (failure !== undefined) throw failure;
    call.signal.throwIfAborted();
    throw this.#nobody(call.tool);
  }

  /** A tool that is not known may have come since the server was asked last. */
  async #findTool(connectionId: string, call: ToolCall): Promise<Tool | undefined> {
    const { exchanges, learning } = this.#parts;
    try {
      return requireTool(exchanges.requireCallable(connectionId), call.tool);
    } catch (error) {
      if (!learning || !isMissingTool(error)) throw error;
      const { signal, timeoutMs = refreshMsMax } = call;
      const options = { signal, timeoutMs: Math.min(timeoutMs, refreshMsMax) };
      // Nobody can say that it has the tool: it is not there as far as is known.
      await learning.refresh(connectionId, options).catch(() => {});
      return requireTool(exchanges.requireCallable(connectionId), call.tool);
    }
  }

  async #run(connection: Connection, call: ToolCall): Promise<CalledTool> {
    const { tool, input } = call;
    const startedAt = performance.now();
    const outcome = await this.#parts.exchanges.run(
      connection,
      { method: 'tools/call', target: tool },
      { ...call, work: (link, options) => link.callTool(tool, input, options) },
    );
    const durationMs = performance.now() - startedAt;
    return { connectionId: connection.id, tool, outcome, durationMs };
  }

  #nobody(capability: string): Fault {
    this.#parts.events.tell({
      type: 'capability-request',
      capability,
      outcome: 'not-found',
      timestamp: new Date().toISOString(),
    });
    return new Fault('not_found', 'no connection that can be called offers this', {
      reason: 'capability_not_found',
      detail: { capability },
    });
  }
}

/** Faults of the one connection, not of the call. */
const elsewhere = new Set(['unavailable', 'deadline', 'upstream', 'forbidden', 'conflict']);

function isElsewhereWorth(error: unknown, isSent: boolean): boolean {
  if (isSent && !isUnsent(error)) return false;
  return isMissingTool(error) || (error instanceof Fault && elsewhere.has(error.code));
}

function mayTry(tried: number, misses: number): boolean {
  return tried - misses < attemptsMax && misses < missesMax;
}

/** What a tool's answer says, for callers who want a value: its structure, else its texts. */
export function resultOf({ structuredContent, content }: CallToolResult): unknown {
  if (structuredContent !== undefined) return structuredContent;
  const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  return texts.length > 0 ? texts.join('\n') : null;
}
