import type { AgentUse, FailureReason, Resources, RuntimeName } from '../agents/agent.ts';

/** Who the program is and where the suite answers; goes to it on its standard input as one line of JSON. */
export interface ProgramIdentity {
  readonly agentId: string;
  readonly name: string;
  readonly template: string;
  readonly capabilities: readonly string[];
  readonly urls: {
    readonly mesh: string;
    readonly auth: string;
    readonly gateway: string;
    readonly registry: string;
    readonly studio: string;
    readonly tracer: string;
  };
  /** API key of the agent's own identity. */
  readonly apiKey: string;
  readonly workspaceId?: string;
  /** Of the workspace, as the program sees it. */
  readonly folder?: string;
  /** Said once the agent beats, so that a warm process can be told from a new one. */
  readonly heartbeatSeconds?: number;
}

/** By what a warm program logs in at auth before it knows who it is. */
export interface ProgramCredential {
  /** Of the agent's own identity. */
  readonly apiKey: string;
  readonly authUrl: string;
}

export interface RuntimeSpec {
  readonly agentId: string;
  readonly resources: Resources;
  /** The workspace's folder on this machine, absolute. */
  readonly folder?: string;
  /** Told to the program when it starts; absent starts it warm: it waits. */
  readonly identity?: ProgramIdentity;
  /** To adopt: when the last line was stored, Unix milliseconds; later ones are told again. */
  readonly linesAfterMs?: number;
}

/** How a program ended. */
export interface RuntimeEnd {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Where the runtime itself ended it, or knows why it ended. */
  readonly reason?: FailureReason;
}

/** A program that was started, or found running again. */
export interface RunningProgram {
  /** Finds it again after a restart of the suite: `pid:startTime`, a container's or a job's id. */
  readonly reference: string;
  /** Gives a warm program its key, so that it has logged in by the time it is told. Absent: it cannot. */
  prepare?(credential: ProgramCredential): void;
  /** Tells a warm program who it is; once. Not for adopted ones. */
  tell(identity: ProgramIdentity): Promise<void>;
  /** Of all its processes; undefined when it has ended. */
  use(): Promise<AgentUse | undefined>;
  /** Lines as they come; those of before the call are not said again. */
  onLine(
    listener: (line: { readonly stream: 'stdout' | 'stderr'; readonly text: string }) => void,
  ): void;
  readonly ended: Promise<RuntimeEnd>;
  /** Asks it to end, and ends all of it after the grace; resolves when nothing of it is left. */
  stop(graceMs: number): Promise<void>;
}

/** A limit of an agent, and whether this machine keeps it. */
export interface RuntimeLimit {
  readonly name: 'cpu' | 'memory' | 'processes' | 'files';
  readonly isEnforced: boolean;
  /** By what, or why not. */
  readonly means: string;
}

/** Where agents run. Faults carry a FailureReason as `reason`. */
export interface Runtime extends AsyncDisposable {
  readonly name: RuntimeName;
  /** Undefined when it can be used; else a sentence for the operator. Cached a few seconds. */
  missing(): Promise<string | undefined>;
  limits(): readonly RuntimeLimit[];
  start(spec: RuntimeSpec): Promise<RunningProgram>;
  /** What still runs of an earlier life of the suite; undefined when it is gone. */
  adopt(reference: string, spec: RuntimeSpec): Promise<RunningProgram | undefined>;
}
