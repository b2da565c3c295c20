import type { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import type { Embeddings, SpokenEvent } from '../inference/request.ts';
import type { LoadedModel } from './protocol.ts';
import type { RuntimeRequest } from './request.ts';

export type RuntimeState = 'idle' | 'starting' | 'ready' | 'crashed';

/** Who asks, when it is not everybody's share, and how the asker gives up. */
export interface RuntimeCaller {
  /** Shares are fair between subjects; requests without one are one subject. */
  readonly subject?: string;
  readonly signal?: AbortSignal;
}

/** A model that is in memory, or on its way there. */
export interface ModelInMemory extends LoadedModel {
  /** What it takes by estimate, contexts included. */
  readonly memoryBytes: number;
  /** When it leaves; undefined while it has a request, or when it stays for ever. */
  readonly expiresAt: Date | undefined;
}

export interface LoadRequest {
  /** Absolute path of a GGUF file. */
  readonly modelPath: string;
  readonly deadlineMs?: number;
  readonly keepAliveMs?: number;
}

export interface EmbedRequest extends LoadRequest {
  /** 1 to 2048, none of them empty. */
  readonly texts: readonly string[];
}

/** Runs GGUF models in one child process. Disposing waits for the open requests, up to a grace. */
export interface Runtime extends AsyncDisposable {
  /**
   * Streams a completion; nothing happens before the first event is asked for. Leaving the loop or
   * aborting the signal frees the place in the batch. Faults: `not_found` no such file, `invalid`
   * bad option or file or a prompt beyond the context, `exhausted` the queue is full, `deadline`,
   * `cancelled`, `unavailable` the child died, memory does not suffice or the runtime is closing.
   */
  generate(request: RuntimeRequest, caller?: RuntimeCaller): AsyncIterable<SpokenEvent>;
  /** Faults as of `generate`; `invalid` also for a model that writes. */
  embed(request: EmbedRequest, caller?: RuntimeCaller): Promise<Embeddings>;
  /** Has the model in memory, as its first request would. */
  load(request: LoadRequest, caller?: RuntimeCaller): Promise<void>;
  /** Resolves once the requests that the model has now have ended and it has left the memory. */
  unload(modelPath: string): Promise<void>;
  /** Why no request to this file can succeed, as far as is known without loading it. */
  flawOf(modelPath: string): Promise<Fault | undefined>;
  /** Whether a request to what stands at this path has ended well. */
  hasWorked(modelPath: string): Promise<boolean>;
  /** What is in memory now. */
  loaded(): readonly ModelInMemory[];
  /** `idle` has no child process; `crashed` means that the last one died and none followed yet. */
  readonly state: RuntimeState;
  /** The child process, while there is one. */
  readonly pid: number | undefined;
}

export interface RuntimeOptions {
  readonly log: Log;
  /** Requests per model that are evaluated in one batch. Default 4. */
  readonly parallel?: number;
  /** Requests per model that may wait for a place. Default 64. */
  readonly queueMax?: number;
  /** What all models together may take. Default: 60 % of what this process may use. */
  readonly memoryBytes?: number;
  /**
   * Default: one less than the cores. llama.cpp's threads spin while they wait for one another, so
   * with more of them than free cores everything comes to a crawl.
   */
  readonly threads?: number;
  /** A model that is unused for so long leaves the memory, the last one with the process. */
  readonly idleUnloadMs?: number;
  /** Default 4096. Memory grows with this times `parallel`. */
  readonly contextTokensMax?: number;
  /** How long a request may take that does not say, waiting and loading included. Default 10 min. */
  readonly deadlineMs?: number;
  /** Processor time of a chat template while its model is loaded; nobody is answered then. Default 20 s. */
  readonly templateMs?: number;
  /** How long disposing lets open requests run. Default 10 s. */
  readonly closeGraceMs?: number;
  /**
   * How long the child may show no sign of work: no message, next to no CPU time, nothing read from a disk.
   * Then it counts as hung and is killed; after ten times as long also while it takes CPU time, when its
   * event loop does not turn. Default 30 s.
   */
  readonly stallMs?: number;
  /**
   * How long the child may take to let go of a request that its caller gave up; then it counts as hung and
   * is killed. Default ten times `stallMs`: a model being loaded or a block of a long prompt has to end.
   */
  readonly cancelGraceMs?: number;
}
