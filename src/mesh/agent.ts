import { createPublicKey, generateKeyPairSync, randomUUID, type KeyObject } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { codes, Fault } from '../kit/errors.ts';
import { createSecretKey } from './attestation/secret-key.ts';
import { serveOverHttp, type ListenOptions } from './client/http-serving.ts';
import { serveFromInbox } from './client/inbox-serving.ts';
import { MeshCalls, type TokenSource } from './client/mesh-calls.ts';
import type { OpenServing, Serving } from './client/serving.ts';
import { TaskDesk, type TaskWork } from './client/task-desk.ts';
import { Voting, type VoteDecision, type VoteQuestion } from './client/voting.ts';
import type { VoteValue } from './swarms/ballot.ts';

export { handBack, type AgentTask, type TaskContext, type TaskWork } from './client/task-desk.ts';
export type { VoteDecision, VoteQuestion } from './client/voting.ts';

export interface JoinOptions {
  /** Of the mesh. */
  readonly url: string;
  /** Needs the permission `mesh:communicate`. */
  readonly token: TokenSource;
  readonly agentId: string;
  readonly capabilities: readonly string[];
  /** Does a task; what it throws is told to the asker as the agent's failure. */
  readonly onTask: TaskWork;
  /** Votes when a swarm asks; absent: the agent abstains. */
  readonly onVote?: ((question: VoteQuestion) => VoteDecision | Promise<VoteDecision>) | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** Starts a small HTTP server for tasks; absent: the agent comes for them, and needs no port. */
  readonly listen?: ListenOptions | undefined;
  /** Brings tasks in another way. */
  readonly serving?: OpenServing | undefined;
  /** Says that a task may be done twice without harm. */
  readonly isIdempotent?: boolean | undefined;
  /** Tasks at the same time; 16 unless told. */
  readonly concurrency?: number | undefined;
  /** Seconds; the mesh's own choice unless told. */
  readonly heartbeatInterval?: number | undefined;
  /** Secret key of attestations, as `createAgentKeys` makes it; needed for `attest`. */
  readonly attestationKey?: string | undefined;
  /** Ed25519 private key: votes are signed with it. */
  readonly voteKey?: KeyObject | undefined;
  /** Leaving does not deregister, for other processes are the same agent. */
  readonly staysRegistered?: boolean | undefined;
  /** How long to try while the mesh cannot be reached; 30,000 unless told. */
  readonly joinTimeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What the mesh says of an attestation. */
export interface AttestationAnswer {
  readonly attestationId: string;
  readonly verified: boolean;
  readonly validUntil: string;
  readonly token?: string;
}

/** An agent on the mesh. Disposing it is `leave`. */
export interface MeshAgent extends AsyncDisposable {
  readonly agentId: string;
  /** Says how the agent does: `draining` gets no tasks but those that name it. */
  setStatus(status: 'active' | 'busy' | 'draining'): Promise<void>;
  /** Proves that the agent holds its key, for one of its capabilities. */
  attest(capability: string): Promise<AttestationAnswer>;
  /** Votes without having been asked; unsigned. */
  vote(swarmId: string, vote: VoteValue, confidence?: number): Promise<unknown>;
  /** Calls the mesh with the agent's token, for all else. */
  readonly calls: MeshCalls;
  /** Takes no more tasks, calls off what is open and deregisters. */
  leave(): Promise<void>;
}

/** New keys of an agent; keep them, for the mesh knows the agent's by them. */
export function createAgentKeys(): {
  readonly attestationKey: string;
  readonly voteKey: KeyObject;
} {
  const { privateKey } = generateKeyPairSync('ed25519');
  return { attestationKey: createSecretKey(), voteKey: privateKey };
}

/**
 * Joins the mesh as an agent: registers, beats, does tasks, votes and registers again when the mesh
 * has lost sight of it. Rejects with the Fault that the mesh refused with.
 */
export async function joinMesh(options: JoinOptions): Promise<MeshAgent> {
  const agent = new JoinedAgent(options);
  await agent.join();
  return agent;
}

const retryMs = 500;
const proofSeconds = 60;

interface Registered {
  readonly heartbeatInterval: number;
  readonly epoch: number;
}

class JoinedAgent implements MeshAgent {
  readonly agentId: string;
  readonly calls: MeshCalls;
  readonly #options: JoinOptions;
  readonly #desk: TaskDesk;
  readonly #stop = new AbortController();
  #serving: Serving | undefined;
  #beating: Promise<void> | undefined;
  #epoch = 1;
  #status: 'active' | 'busy' | 'draining' = 'active';

  constructor(options: JoinOptions) {
    const { agentId, concurrency = 16 } = options;
    this.agentId = agentId;
    this.calls = new MeshCalls(options);
    this.#options = options;
    this.#desk = new TaskDesk(workOf(options), concurrency);
  }

  async join(): Promise<void> {
    const { agentId, calls } = this;
    const { listen, serving = listen ? serveOverHttp(listen) : serveFromInbox } = this.#options;
    this.#serving = await serving({ agentId, calls, desk: this.#desk });
    try {
      const registered = await this.#registerPatiently();
      this.#serving.begin();
      this.#beating = this.#beat(registered);
    } catch (error) {
      await this.#serving.close();
      throw error;
    }
  }

  async setStatus(status: 'active' | 'busy' | 'draining'): Promise<void> {
    this.#status = status;
    await this.#sendBeat();
  }

  async attest(capability: string): Promise<AttestationAnswer> {
    const { attestationKey } = this.#options;
    if (attestationKey === undefined) throw new Fault('invalid', 'the agent has no attestationKey');
    const now = Date.now();
    const claims = {
      nonce: randomUUID(),
      issuedAt: new Date(now).toISOString(),
      expiresAt: new Date(now + proofSeconds * 1_000).toISOString(),
    };
    const { agentId } = this;
    const { prove } = await loadProofs();
    const made = prove(attestationKey, { agentId, capability, ...claims });
    const proof = { type: 'zero-knowledge', ...made, ...claims };
    const body = { agentId, capability, proof };
    const answer = await this.calls.send({ method: 'POST', path: '/api/v1/acap/attest', body });
    return answer as AttestationAnswer;
  }

  vote(swarmId: string, vote: VoteValue, confidence = 1): Promise<unknown> {
    const path = `/api/v1/swarms/${encodeURIComponent(swarmId)}/votes`;
    return this.calls.send({
      method: 'POST',
      path,
      body: { agentId: this.agentId, vote, confidence },
    });
  }

  async leave(): Promise<void> {
    if (this.#stop.signal.aborted) return;
    this.#stop.abort();
    await this.#desk.close();
    await this.#serving?.close();
    await this.#beating;
    if (this.#options.staysRegistered) return;
    // Who cannot say goodbye is missed soon; another who has the id now stays.
    await this.calls
      .send({
        method: 'DELETE',
        path: `/api/v1/agents/${this.agentId}?epoch=${this.#epoch}`,
        timeoutMs: 5_000,
      })
      .catch(() => {});
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.leave();
  }

  async #registerPatiently(): Promise<Registered> {
    const { joinTimeoutMs = 30_000, signal } = this.#options;
    const untilMs = Date.now() + joinTimeoutMs;
    for (;;) {
      try {
        return await this.#register();
      } catch (error) {
        const isRefusal = error instanceof Fault && !codes[error.code].retryable;
        if (isRefusal || signal?.aborted || Date.now() + retryMs > untilMs) throw error;
        await sleep(retryMs, undefined, signal ? { signal } : {});
      }
    }
  }

  async #register(): Promise<Registered> {
    const { capabilities, metadata, isIdempotent, heartbeatInterval, signal } = this.#options;
    const body = {
      agentId: this.agentId,
      capabilities,
      endpoints: this.#serving?.endpoints ?? {},
      ...(metadata && { metadata }),
      ...(isIdempotent !== undefined && { idempotent: isIdempotent }),
      ...(heartbeatInterval !== undefined && { heartbeatInterval }),
      ...(await keysOf(this.#options)),
    };
    const path = '/api/v1/agents/register';
    const registered = (await this.calls.send({
      method: 'POST',
      path,
      body,
      signal,
    })) as Registered;
    this.#epoch = registered.epoch;
    return registered;
  }

  /** Beats twice as often as it must, so that one lost beat is none. */
  async #beat({ heartbeatInterval }: Registered): Promise<void> {
    const { signal } = this.#stop;
    let pauseMs = Math.max(250, heartbeatInterval * 500);
    for (;;) {
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      try {
        await this.#sendBeat();
      } catch (error) {
        if (!isForgotten(error)) continue;
        const again = await this.#register().catch(() => undefined);
        if (again) pauseMs = Math.max(250, again.heartbeatInterval * 500);
      }
    }
  }

  async #sendBeat(): Promise<void> {
    const path = `/api/v1/agents/${this.agentId}/heartbeat`;
    const body = { load: this.#desk.load, status: this.#status };
    await this.calls.send({ method: 'POST', path, body, timeoutMs: 10_000 });
  }
}

/** Whether the mesh wants the agent to register again: it is unknown (404) or offline (409). */
function isForgotten(error: unknown): boolean {
  return error instanceof Fault && (error.code === 'not_found' || error.code === 'conflict');
}

function workOf(options: JoinOptions): TaskWork {
  const { agentId, voteKey, onTask, onVote: decide = abstain } = options;
  const voting = new Voting({ agentId, decide, voteKey });
  return (task, context) =>
    task.type === 'vote' ? voting.answer(task.input) : onTask(task, context);
}

function abstain(): VoteDecision {
  return { vote: 'abstain', confidence: 0 };
}

/** Only for agents that attest: the curve takes most of the time in which all else is loaded. */
function loadProofs() {
  return import('./attestation/schnorr.ts');
}

async function keysOf({ attestationKey, voteKey, agentId }: JoinOptions) {
  return {
    ...(attestationKey !== undefined && (await proofsOf(attestationKey, agentId))),
    ...(voteKey && { voteKey: createPublicKey(voteKey).export({ format: 'jwk' }).x }),
  };
}

async function proofsOf(attestationKey: string, agentId: string) {
  const { proveKey, publicKeyOf } = await loadProofs();
  return { publicKey: publicKeyOf(attestationKey), keyProof: proveKey(attestationKey, agentId) };
}
