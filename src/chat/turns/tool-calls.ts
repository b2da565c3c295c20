import type { Caller } from '../caller.ts';
import type { ToolCall, ToolRules } from '../conversations/conversation.ts';
import type { ChatTools, OfferedTool } from '../tools/tool.ts';
import { unknownOutcome } from './history.ts';

export interface CallResult {
  readonly call: ToolCall;
  readonly content: string;
  readonly isError: boolean;
}

/** What a turn's model may call, and on whose behalf. */
export interface Toolbox {
  readonly tools: ChatTools;
  readonly rules: ToolRules;
  readonly offers: readonly OfferedTool[];
}

export interface CallMaker {
  readonly caller: Caller;
  /** Absent where the tools are gone. */
  readonly box: Toolbox | undefined;
  readonly signal: AbortSignal;
  readonly onResult: (result: CallResult) => void;
}

const parallelMax = 4;
const contentMax = 64 * 1024;

export const refusedByUser = 'The user refused this call. It was not made.';
export const notMade = 'This call was not made: the user stopped the answer before.';

/** The offers as the gateway takes them. */
export function writeOffers(offers: readonly OfferedTool[]) {
  return offers.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }));
}

type Options = Readonly<Record<string, unknown>>;

/** What is asked for once calls were made: a model that still had to call a tool could never answer. */
export function behindCalls(options: Options): Options {
  const { tool_choice: choice } = options;
  if (choice === 'required') return { ...options, tool_choice: 'auto' };
  if (typeof choice !== 'object' || choice === null) return options;
  const { allowed_tools: allowed } = choice as Options;
  if (typeof allowed !== 'object') return { ...options, tool_choice: 'auto' };
  // Still these tools and no others.
  return { ...options, tool_choice: { ...choice, allowed_tools: { ...allowed, mode: 'auto' } } };
}

/** Whether its user has to approve a call first; what is not offered is no call at all. */
export function needsApproval({ offers }: Toolbox, { name }: ToolCall): boolean {
  return offers.find((offer) => offer.name === name)?.needsApproval ?? false;
}

/** Makes calls, some at a time; each has a result, also when the signal ends it half-way. */
export async function makeCalls(
  calls: readonly ToolCall[],
  maker: CallMaker,
): Promise<CallResult[]> {
  const results: CallResult[] = [];
  let next = 0;
  const work = async () => {
    for (let at = next++; at < calls.length; at = next++) {
      const call = calls[at];
      if (call) results[at] = await makeCall(call, maker);
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallelMax, calls.length) }, work));
  return results;
}

async function makeCall(call: ToolCall, maker: CallMaker): Promise<CallResult> {
  const result = { call, ...(await outcomeOf(call, maker)) };
  if (!maker.signal.aborted) maker.onResult(result);
  return result;
}

async function outcomeOf(
  call: ToolCall,
  { caller, box, signal }: CallMaker,
): Promise<{ readonly content: string; readonly isError: boolean }> {
  if (signal.aborted) return { content: notMade, isError: true };
  if (!box?.offers.some(({ name }) => name === call.name)) {
    return { content: `There is no tool ${call.name.slice(0, 100)}.`, isError: true };
  }
  try {
    const { content, isError } = await box.tools.call(caller, box.rules, call, signal);
    return { content: content.slice(0, contentMax), isError };
  } catch {
    // It rejects when it is aborted, and what it had done until then nobody knows.
    return { content: unknownOutcome, isError: true };
  }
}
