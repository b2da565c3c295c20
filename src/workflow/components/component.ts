import type { TSchema } from 'typebox';
import type { Log } from '../../kit/log.ts';
import type { Span } from '../../kit/trace/trace.ts';

export type ComponentGroup = 'ai' | 'cms' | 'tools' | 'logic' | 'data';

/** What a model call used, or an execution within. */
export interface Usage {
  /** Absent where several may have been asked. */
  readonly model?: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** US dollars. */
  readonly cost: number;
}

/** What an execution may still use; without what it has no bound for. */
export interface Rest {
  readonly timeoutMs?: number;
  readonly maxTokens?: number;
  /** US dollars. */
  readonly maxCost?: number;
}

/** What a node may know while it runs. */
export interface NodeContext {
  readonly executionId: string;
  readonly workflowId: string;
  readonly nodeId: string;
  /** `''` outside loops, else the rounds from the outermost loop on: `3`, `3.0`. */
  readonly iteration: string;
  /** From 1. */
  readonly attempt: number;
  /** The same for every attempt of this node in this iteration: hand it to whoever is told to do something. */
  readonly idempotencyKey: string;
  /** How often the execution was resumed after it had ended; absent is 0. */
  readonly resumes?: number;
  /** Aborted by cancel, by a deadline, and when the service stops. */
  readonly signal: AbortSignal;
  /** Milliseconds that are left for this attempt. */
  readonly timeoutMs: number;
  /** What another execution may use for which this node waits; `timeoutMs` by the node's own setting too. */
  readonly rest?: Rest;
  /** Whose execution it is. */
  readonly ownerId: string;
  /** Of what components ask for, what whoever started it held. */
  readonly permissions?: readonly string[];
  /** The access token that started the execution; kept only for flows with a component that asks for it. */
  readonly callerToken: () => Promise<string | undefined>;
  /** Outputs of the nodes that lead here and were not skipped, by id, in the order of the edges. */
  readonly predecessors: Readonly<Record<string, unknown>>;
  readonly span: Span;
  readonly log: Log;
}

/** A node that ended. */
export interface NodeDone {
  readonly kind: 'done';
  /** JSON; placeholders read it as `{{ node.path }}`. */
  readonly output: unknown;
  /** The handle on which it ended; edges with another `sourceHandle` are not taken. */
  readonly handle?: string;
  readonly usage?: Usage;
  /** Of components that create content: what they created. */
  readonly entityCreated?: Readonly<Record<string, unknown>>;
}

/** A node that waits without running: for a time, for a signal, or for another execution. */
export interface NodeParked {
  readonly kind: 'parked';
  readonly reason: 'wait' | 'approval' | 'child';
  /** When the wait ends by itself: `wait` goes on with `output`, `approval` and `child` fail as `deadline`. */
  readonly wakeAtMs?: number;
  readonly output?: unknown;
  /** What the status shows: approvers, the child's id, … */
  readonly detail?: Readonly<Record<string, unknown>>;
}

export type NodeOutcome = NodeDone | NodeParked;

/**
 * One kind of node. Its schemas say what its settings and outputs are; `run` gets settings that hold.
 * It fails with a Fault, whose `reason` in upper case becomes the node's error code.
 */
export interface Component {
  /** As nodes name it: `LLMNode`. */
  readonly name: string;
  readonly group: ComponentGroup;
  readonly title: string;
  readonly description: string;
  /** Of `data`, rendered. */
  readonly input: TSchema;
  readonly output: TSchema;
  /** The handles on which it can end, when they are more than one; `data` may add to them (Switch). */
  readonly handles?:
    | readonly string[]
    | ((data: Readonly<Record<string, unknown>>) => readonly string[]);
  /**
   * What repeating it does: `none`: it only computes, `repeatable`: the same again, `once`: it acts on
   * the world, so that it is handed an idempotency key and never repeated unless it asks for it.
   */
  readonly effect: 'none' | 'repeatable' | 'once';
  /** Walked by the engine itself: `loop` runs its body, `parallel` its successors. */
  readonly control?: 'loop' | 'parallel';
  /** Milliseconds that one attempt takes as a rule; for estimates only. */
  readonly typicalMs: number;
  /** Milliseconds that one attempt may take when the node says nothing; 60,000 when absent. */
  readonly timeoutMs?: number;
  /** It waits without running, as long as its settings say. */
  readonly parks?: true;
  /** It acts with the caller's own token (IdpAPI), or hands it on to what does (SubWorkflow). */
  readonly callerToken?: 'needed' | 'handed-on';
  /** One of these is needed by whoever starts a flow with it: it acts in the service's own name. */
  readonly permission?: readonly ComponentPermission[];
  /** The handle on which an output ends that stands in for running it; none when it says none. */
  handleOf?(output: Readonly<Record<string, unknown>>): string | undefined;
  /** What is wrong with settings beyond what the schema says, before placeholders are rendered. */
  check?(data: Readonly<Record<string, unknown>>): readonly SettingFault[];
  run(data: Readonly<Record<string, unknown>>, context: NodeContext): Promise<NodeOutcome>;
}

/** One setting that cannot be as it is. */
export interface SettingFault {
  /** JSON pointer within `data`. */
  readonly path: string;
  readonly message: string;
}

/** All components, by name. */
export type ComponentTable = ReadonlyMap<string, Component>;

/**
 * What components ask of whoever starts them, because the service acts in its own name where they
 * reach tools and agents.
 */
export const componentPermissions = ['registry:call', 'mesh:communicate', 'agent:execute'] as const;

export type ComponentPermission = (typeof componentPermissions)[number];
