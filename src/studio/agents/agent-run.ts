import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../kit/errors.ts';
import type { RunningProgram, Runtime } from '../runtimes/runtime.ts';
import type { Agent, AgentFailure, AgentUse } from './agent.ts';
import { AgentEntry, NotOurs } from './agent-entry.ts';
import { isFinal, type AgentChange, type AgentRecord, type WantedEnd } from './agent-record.ts';
import type { AgentKey } from './credentials.ts';
import { describeEnd, describeFault, endedEarly, isOutage, lost, spawnFault } from './failures.ts';
import { specOf, startProgram, untilAborted, untilHeard } from './program-start.ts';
import { nextRestart } from './restarts.ts';
import type { Beginning, RunOptions } from './run-options.ts';

const outagePauseMs = 5_000;
/** The suite stops soon after. */
const closeGraceMs = 3_000;
const failedGraceMs = 1_000;

/** The life of one agent on this replica: started or found again, watched, started anew, ended. */
export class AgentRun {
  /** Settles, without a failure, when this replica has nothing more to do with the agent. */
  readonly done: Promise<void>;
  /** The first start: rejects with the Fault that tells why it failed. */
  readonly begun: Promise<Agent>;
  readonly #options: RunOptions;
  readonly #runtime: Runtime;
  readonly #interrupt = new AbortController();
  readonly #entry: AgentEntry;
  #beginning: Beginning | undefined;
  #program: RunningProgram | undefined;
  #wanted: WantedEnd | undefined;
  #loss: string | undefined;
  #isLost = false;
  #succeed: (agent: Agent) => void = () => {};
  #refuse: (fault: Fault) => void = () => {};

  constructor(
    given: { readonly record: AgentRecord; readonly runtime: Runtime },
    beginning: Beginning,
    options: RunOptions,
  ) {
    this.#entry = new AgentEntry(given.record, options);
    this.#runtime = given.runtime;
    this.#beginning = beginning;
    this.#options = options;
    this.begun = new Promise((resolve, reject) => {
      this.#succeed = resolve;
      this.#refuse = reject;
    });
    // Only who spawns waits for it.
    this.begun.catch(() => {});
    if (given.record.wanted) this.end(given.record.wanted);
    this.done = this.#live();
  }

  get agent(): Agent {
    return this.#entry.record.agent;
  }

  /** What its processes take now. */
  async use(): Promise<AgentUse | undefined> {
    return this.#program?.use().catch(() => undefined);
  }

  /** Ends the agent for good; `done` tells when. */
  end(wanted: WantedEnd): void {
    if (this.#wanted !== 'removed') this.#wanted = wanted;
    this.#interrupt.abort();
  }

  /** Another replica has it by now. */
  lose(): void {
    this.#isLost = true;
    this.#interrupt.abort();
  }

  /** Leaves the agent to whoever starts next; what would die with this machine is stopped cleanly. */
  close(): Promise<void> {
    this.#interrupt.abort();
    return this.done;
  }

  /** Ends the program because it shows no sign of life; it is started again. */
  async giveUp(why: string): Promise<void> {
    this.#loss = why;
    await this.#program?.stop(failedGraceMs);
  }

  async #live(): Promise<void> {
    const { log, logs } = this.#options;
    try {
      await this.#liveOn();
      if (this.#isLost) throw new NotOurs();
      if (this.#wanted) await this.#finish(this.#wanted);
      else if (!isFinal(this.agent)) await this.#leave();
    } catch (err) {
      if (err instanceof NotOurs) await this.#forsake();
      else log.error({ err, agentId: this.agent.id }, 'an agent is left to the next look');
    }
    this.#refuse(new Fault('conflict', 'the agent was stopped', { reason: 'agent_stopped' }));
    await logs.close(this.agent.id).catch(() => {});
  }

  async #liveOn(): Promise<void> {
    const { signal } = this.#interrupt;
    while (!signal.aborted) {
      const { failure, cause } = await this.#once();
      if (!failure) return;
      this.#program = undefined;
      const isFirst = this.#beginning?.kind === 'new';
      this.#beginning = undefined;
      if (isFirst) {
        await this.#fail(failure);
        this.#refuse(spawnFault(this.agent.id, failure, cause));
        return;
      }
      if (isOutage(cause)) await this.#wait(failure, outagePauseMs, {});
      else await this.#restartLater(failure);
      if (isFinal(this.agent)) return;
    }
  }

  /** From its start to its end; no failure when it was interrupted. */
  async #once(): Promise<{ readonly failure?: AgentFailure; readonly cause?: unknown }> {
    const { signal } = this.#interrupt;
    const { logs } = this.#options;
    try {
      const program = await this.#obtain();
      if (!program) return { failure: lost('it was gone when the studio came back') };
      this.#beginning = undefined;
      const end = await Promise.race([program.ended, untilAborted(signal)]);
      if (!end || signal.aborted) return {};
      if (this.#loss !== undefined) {
        const failure = lost(this.#loss);
        this.#loss = undefined;
        return { failure };
      }
      return { failure: describeEnd(this.agent, end, logs.tail(this.agent.id)) };
    } catch (cause) {
      if (cause instanceof NotOurs) throw cause;
      if (signal.aborted) return {};
      return { failure: describeFault(cause, logs.tail(this.agent.id)), cause };
    }
  }

  /** A program that the mesh has heard; undefined when the one there was is gone. */
  async #obtain(): Promise<RunningProgram | undefined> {
    const { reference } = this.#entry.record;
    const beginning = this.#beginning;
    if (reference === undefined || beginning?.kind === 'new') return this.#start(beginning);
    if (beginning?.kind === 'claimed' && beginning.isStray) return undefined;
    const spec = await specOf(this.agent, this.#options.settings);
    const program = await this.#runtime.adopt(reference, spec);
    if (!program) return undefined;
    this.#watch(program);
    this.#say('found running after a restart of the studio');
    if (this.agent.startedAtMs === undefined) await this.#untilHeard(program, 0);
    await this.#noteRunning();
    return program;
  }

  async #start(beginning: Beginning | undefined): Promise<RunningProgram> {
    const { credentials, presence, logs } = this.#options;
    const isNew = beginning?.kind === 'new';
    logs.forgetTail(this.agent.id);
    const { id, expiresAtMs } = this.agent;
    const [key, after] = isNew
      ? [beginning.key, 0]
      : await Promise.all([credentials.create(id, { endsAtMs: expiresAtMs }), presence.epoch(id)]);
    if (!isNew) await this.#entry.changeKey(key);
    const waiting = isNew ? await beginning.program : undefined;
    const program = await this.#tell(key, waiting);
    this.#watch(program);
    try {
      await Promise.all([
        this.#save({ reference: program.reference }),
        this.#untilHeard(program, after),
      ]);
      await this.#noteRunning();
      return program;
    } catch (error) {
      if (!this.#interrupt.signal.aborted) await program.stop(failedGraceMs);
      throw error;
    }
  }

  async #tell(key: AgentKey, waiting: RunningProgram | undefined): Promise<RunningProgram> {
    try {
      const spec = await specOf(this.agent, this.#options.settings, key);
      return await startProgram(this.#runtime, spec, waiting);
    } catch (error) {
      await waiting?.stop(0);
      throw error;
    }
  }

  #untilHeard(program: RunningProgram, after: number): Promise<void> {
    const { presence, startTimeoutMs: timeoutMs, logs } = this.#options;
    const agentId = this.agent.id;
    const onEnded = (end: Awaited<RunningProgram['ended']>): never => {
      throw endedEarly(describeEnd(this.agent, end, logs.tail(agentId)));
    };
    const { signal } = this.#interrupt;
    return untilHeard(program, { agentId, presence, after, timeoutMs, signal, onEnded });
  }

  #watch(program: RunningProgram): void {
    this.#program = program;
    const { logs } = this.#options;
    program.onLine(({ stream, text }) => logs.add(this.agent.id, stream, text));
  }

  async #noteRunning(): Promise<void> {
    const { status, startedAtMs = 0 } = this.agent;
    const isContinued = status === 'running' && startedAtMs > 0;
    await this.#save({ status: 'running', startedAtMs: isContinued ? startedAtMs : Date.now() });
    if (!isContinued) this.#say('running');
    this.#succeed(this.agent);
  }

  async #restartLater(failure: AgentFailure): Promise<void> {
    const { restartedAtMs: before } = this.#entry.record;
    const times = { firstPauseMs: this.#options.restartMs, nowMs: Date.now() };
    const next = nextRestart(before, times);
    if (!next) {
      const message = `it failed too often within ten minutes, at last: ${failure.message}`;
      await this.#fail({ ...failure, reason: 'restarts_exhausted', message });
      return;
    }
    const { pauseMs, restartedAtMs } = next;
    const restarts = this.agent.restarts + 1;
    await this.#wait(failure, pauseMs, { restarts, restartedAtMs, reference: undefined });
  }

  async #wait(failure: AgentFailure, pauseMs: number, change: AgentChange): Promise<void> {
    this.#say(`${failure.message}; it is started again in ${Math.round(pauseMs / 1_000)} s`);
    await this.#save({ ...change, status: 'restarting', failure });
    await sleep(pauseMs, undefined, { signal: this.#interrupt.signal }).catch(() => {});
  }

  async #fail(failure: AgentFailure): Promise<void> {
    this.#say(failure.message);
    const keyId = await this.#entry.endKey();
    const endedAtMs = Date.now();
    await this.#save({ status: 'failed', failure, endedAtMs, reference: undefined, keyId });
  }

  async #finish(wanted: WantedEnd): Promise<void> {
    const { stopGraceMs } = this.#options;
    if (this.agent.status !== 'stopping') await this.#save({ status: 'stopping' });
    const program = await this.#findProgram();
    await program?.stop(stopGraceMs);
    const keyId = await this.#entry.endKey();
    if (wanted === 'removed') {
      await this.#entry.remove();
      return;
    }
    this.#say(wanted === 'expired' ? 'its time is over' : 'stopped');
    await this.#save({ status: wanted, endedAtMs: Date.now(), reference: undefined, keyId });
  }

  /** Also of one that was asked to end before this replica had it. */
  async #findProgram(): Promise<RunningProgram | undefined> {
    const { reference } = this.#entry.record;
    if (this.#program || reference === undefined) return this.#program;
    const spec = await specOf(this.agent, this.#options.settings);
    return this.#runtime.adopt(reference, spec).catch(() => undefined);
  }

  async #leave(): Promise<void> {
    if (this.#runtime.name !== 'local') return;
    this.#say('stopped with the studio; it is started again with it');
    await this.#program?.stop(Math.min(closeGraceMs, this.#options.stopGraceMs));
    await this.#save({ status: 'restarting', reference: undefined });
  }

  /** Its row is gone, or another replica has found the program: only in the first case it must end. */
  async #forsake(): Promise<void> {
    const { log, directory } = this.#options;
    log.warn({ agentId: this.agent.id }, 'an agent is no longer run by this replica');
    if (!directory.get(this.agent.id)) await this.#program?.stop(failedGraceMs).catch(() => {});
  }

  #say(text: string): void {
    this.#options.logs.add(this.agent.id, 'studio', text);
  }

  async #save(change: AgentChange): Promise<void> {
    await this.#entry.save(change);
    const { wanted } = this.#entry.record;
    if (wanted) this.end(wanted);
  }
}
