import { LocalBus } from '../../kit/bus/local-bus.ts';
import type { Bus } from '../../kit/bus/bus.ts';
import type { Database } from '../../kit/database/database.ts';
import { openTestTables } from '../../kit/database/testing.ts';
import { Fault } from '../../kit/errors.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import { silentLog } from '../../kit/testing.ts';
import type {
  ProgramCredential,
  ProgramIdentity,
  RunningProgram,
  Runtime,
  RuntimeEnd,
  RuntimeSpec,
} from '../runtimes/runtime.ts';
import type { RuntimeName } from './agent.ts';
import { createAgentParts, type AgentPartsOptions } from './agent-parts.ts';
import type { Credentials } from './credentials.ts';
import type { Presence } from './presence.ts';
import type { Template } from './spawn-request.ts';

type LineListener = Parameters<RunningProgram['onLine']>[0];

/** A program that does what the test says. */
export class ScriptedProgram implements RunningProgram {
  readonly reference: string;
  readonly spec: RuntimeSpec;
  readonly ended: Promise<RuntimeEnd>;
  identity: ProgramIdentity | undefined;
  /** With which it logged in before it knew who it is. */
  credential: ProgramCredential | undefined;
  isEnded = false;
  /** Hears nobody: whoever would stop it is dead. */
  isDeaf = false;
  /** Asked to stop, with what grace. */
  stoppedWithMs: number | undefined;
  readonly #listeners: LineListener[] = [];
  #end: (end: RuntimeEnd) => void = () => {};
  readonly #onTold: (program: ScriptedProgram) => void;

  constructor(reference: string, spec: RuntimeSpec, onTold: (program: ScriptedProgram) => void) {
    this.reference = reference;
    this.spec = spec;
    this.#onTold = onTold;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  prepare(credential: ProgramCredential): void {
    this.credential = credential;
  }

  async tell(identity: ProgramIdentity): Promise<void> {
    this.identity = identity;
    this.#onTold(this);
  }

  async use() {
    return this.isEnded ? undefined : { cpu: 0.125, memory: 87 * 2 ** 20 };
  }

  onLine(listener: LineListener): void {
    this.#listeners.push(listener);
  }

  print(text: string, stream: 'stdout' | 'stderr' = 'stdout'): void {
    for (const listener of this.#listeners) listener({ stream, text });
  }

  end(end: Partial<RuntimeEnd> = {}): void {
    this.isEnded = true;
    this.#end({ exitCode: null, signal: null, ...end });
  }

  async stop(graceMs: number): Promise<void> {
    if (this.isDeaf) return;
    this.stoppedWithMs ??= graceMs;
    this.end({ exitCode: 0 });
  }
}

/** A machine on which programs run that outlive the studio's process. */
export class ScriptedMachine {
  readonly programs: ScriptedProgram[] = [];
  /** Registrations at the mesh, by agent. */
  readonly epochs = new Map<string, number>();
  readonly beats = new Map<string, number>();
  /** What each program does when it knows who it is; registers at once unless told. */
  onTold: (program: ScriptedProgram) => void = (program) => this.register(program);
  missing: string | undefined;
  startFault: Fault | undefined;

  register({ spec }: ScriptedProgram): void {
    const { agentId } = spec;
    this.epochs.set(agentId, (this.epochs.get(agentId) ?? 0) + 1);
    this.beats.set(agentId, Date.now());
  }

  /** For as long as a studio is put away that is to have died. */
  setDeaf(isDeaf: boolean): void {
    for (const program of this.programs) program.isDeaf = isDeaf;
  }

  of(agentId: string): ScriptedProgram {
    const program = this.programs.findLast(({ spec }) => spec.agentId === agentId);
    if (!program) throw new Error('no such program was started');
    return program;
  }

  runtime(name: RuntimeName): Runtime {
    return {
      name,
      missing: async () => this.missing,
      limits: () => [{ name: 'memory', isEnforced: true, means: 'by script' }],
      start: async (spec) => {
        if (this.startFault) throw this.startFault;
        const reference = `scripted:${this.programs.length}`;
        const program = new ScriptedProgram(reference, spec, (told) => this.onTold(told));
        this.programs.push(program);
        if (spec.identity) await program.tell(spec.identity);
        return program;
      },
      adopt: async (reference) => {
        const found = this.programs.find((program) => program.reference === reference);
        return found && !found.isEnded ? found : undefined;
      },
      [Symbol.asyncDispose]: async () => {},
    };
  }

  presence(): Presence {
    return {
      epoch: async (agentId) => this.epochs.get(agentId) ?? 0,
      untilRegistered: async (agentId, after, signal) => {
        while ((this.epochs.get(agentId) ?? 0) <= after) {
          signal.throwIfAborted();
          await new Promise((resolve) => setTimeout(resolve, 2));
        }
      },
      lastHeartbeatMs: async (agentId) => this.beats.get(agentId),
      silent: async () => [],
    };
  }
}

/** Keys that exist in memory alone. */
export class ScriptedCredentials implements Credentials {
  readonly live = new Set<string>();
  #count = 0;
  isAway = false;

  async create(agentId: string) {
    if (this.isAway) {
      throw new Fault('unavailable', 'no key', { reason: 'credential_unavailable' });
    }
    this.#count += 1;
    const keyId = `key_${this.#count}`;
    this.live.add(keyId);
    return { keyId, apiKey: `enn_${agentId.slice(4)}_${'0'.repeat(64)}_00000000` };
  }

  async revoke(keyId: string): Promise<void> {
    this.live.delete(keyId);
  }
}

/** One template, cheap. */
export const testTemplates: readonly Template[] = [
  {
    name: 'assistant',
    description: 'answers',
    capabilities: ['chat'],
    resources: { cpu: 0.5, memory: 256 * 2 ** 20 },
  },
];

/** What outlives one start of the agents' parts. */
export async function openAgentGround(migrations: URL) {
  const lifetime = new Lifetime(silentLog);
  const database = lifetime.own('the database', await openTestTables('studio', migrations));
  const bus = lifetime.own('the bus', new LocalBus({ log: silentLog }));
  return {
    database,
    bus,
    machine: new ScriptedMachine(),
    credentials: new ScriptedCredentials(),
    [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose](),
  };
}

/** Starts the agents on what is given. */
export async function startAgents(
  ground: {
    readonly database: Database;
    readonly bus: Bus;
    readonly machine: ScriptedMachine;
    readonly credentials: Credentials;
  },
  given: Partial<AgentPartsOptions> = {},
) {
  const { database, bus, machine, credentials } = ground;
  const parts = createAgentParts({
    database,
    bus,
    credentials,
    log: silentLog,
    runtimes: [machine.runtime('local'), machine.runtime('docker')],
    templates: testTemplates,
    presence: machine.presence(),
    workspaces: {
      require: () => Promise.reject(new Fault('not_found', 'there is no such workspace')),
    },
    settings: {
      urls: { mesh: '', auth: '', gateway: '', registry: '', studio: '', tracer: '' },
      heartbeatSeconds: 5,
      folderOf: async () => undefined,
    },
    limits: { cpuMax: 4, memoryMax: 4 * 2 ** 30, agentsMax: 100, ownerAgentsMax: 20 },
    startTimeoutMs: 2_000,
    stopGraceMs: 1_000,
    warmAgents: 0,
    restartMs: 5,
    lookMs: 20,
    ...given,
  });
  await parts.start();
  return parts;
}
