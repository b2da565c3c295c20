import type { Caller } from '../caller.ts';
import type { ToolCall, ToolRules } from '../conversations/conversation.ts';

/** A tool of the registry as a turn's model is told of it. */
export interface OfferedTool {
  /** `connection__tool`, fit for the dialects of all providers. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Whether a call has to be approved by the user first. */
  readonly needsApproval: boolean;
}

export interface ToolOutcome {
  /** What the model is told: the tool's texts, else its structured content as JSON; bounded. */
  readonly content: string;
  readonly isError: boolean;
}

/** The registry's tools as a conversation may use them. */
export interface ChatTools {
  /** Those that the rules allow and the registry has now; what is allowed but away is left out. */
  offers(caller: Caller, rules: ToolRules): Promise<readonly OfferedTool[]>;
  /**
   * Calls one that the rules allow, with the caller's own rights. What goes wrong is an outcome that the
   * model can read; it rejects only when the signal aborts.
   */
  call(caller: Caller, rules: ToolRules, call: ToolCall, signal: AbortSignal): Promise<ToolOutcome>;
  /** Rejects with `invalid` rules that name nothing, and `forbidden` where the caller may call no tools. */
  check(caller: Caller, rules: ToolRules): Promise<void>;
}
