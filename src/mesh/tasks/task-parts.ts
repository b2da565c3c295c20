import type { Bus } from '../../kit/bus/bus.ts';
import { hasUnheardWriters } from '../../kit/bus/unheard-writers.ts';
import type { Database } from '../../kit/database/database.ts';
import type { Egress } from '../../kit/egress/egress.ts';
import { openTogether } from '../../kit/lifecycle.ts';
import type { Log } from '../../kit/log.ts';
import type { Tracer } from '../../kit/trace/trace.ts';
import { A2aCaller } from '../a2a/a2a-caller.ts';
import { A2aServer } from '../a2a/a2a-server.ts';
import type { Activity } from '../activity/activity.ts';
import type { AgentDirectory } from '../agents/agent.ts';
import { AgentChoice } from './agent-choice.ts';
import { Dispatch } from './dispatch.ts';
import { GrpcAgents, type GrpcCaller } from './grpc-agents.ts';
import { Inbox } from './inbox.ts';
import { LocalAgents } from './local-agents.ts';
import { RestCaller } from './rest-caller.ts';
import { TaskAccess } from './task-access.ts';
import { tellEnd } from './task-end.ts';
import { TaskJournal } from './task-journal.ts';
import { MeshTaskRunner } from './task-runner.ts';
import type { EndedTask } from './task-record.ts';
import { TaskSignals, taskTopic, type AgentGone, type TaskSignal } from './task-signals.ts';

export interface TaskPartsOptions {
  readonly database: Pick<Database, 'query' | 'dialect'>;
  readonly bus: Pick<Bus, 'topic' | 'kind' | 'isConnected'>;
  readonly egress: Pick<Egress, 'fetch'>;
  readonly tracer: Tracer;
  readonly log: Log;
  readonly directory: AgentDirectory;
  readonly activity: Activity;
  /** Absent: agents are called by their other addresses. */
  readonly grpc?: GrpcCaller | undefined;
  /** Told of every task that has ended. */
  readonly onEnd?: ((ended: EndedTask) => void) | undefined;
  /** Tasks that may wait for one agent; 1,000 unless told. */
  readonly queueLengthMax?: number | undefined;
  /** Tasks of an agent at the same time, where its metadata has no `maxConcurrency`; 32 unless told. */
  readonly concurrency?: number | undefined;
}

/** Everything that has to do with tasks; disposing it ends what is under way. */
export interface TaskParts extends AsyncDisposable {
  readonly runner: MeshTaskRunner;
  readonly access: TaskAccess;
  readonly inbox: Inbox;
  /** Agents that live in this process. */
  readonly local: LocalAgents;
  readonly a2a: A2aServer;
  /**
   * Ends what was asked of an agent that was deregistered: whoever waits, on any replica, gets
   * `unavailable` (`agent_offline`). Never rejects.
   */
  readonly agentGone: (agentId: string) => Promise<void>;
}

/** What a signal is about is in SQL: one that came too late is worth nothing. */
const retention = { retainCount: 1_000, retainSeconds: 60 };

/** Opens the tasks; rejects when the bus does not answer. */
export async function openTaskParts(options: TaskPartsOptions): Promise<TaskParts> {
  const { database: sql, bus, egress, tracer, log, directory, activity, onEnd } = options;
  const { queueLengthMax, concurrency, grpc } = options;
  const watchers = { activity, ...(onEnd && { onEnd }) };
  const tell = (ended: EndedTask) => tellEnd(watchers, ended);
  return openTogether(log, async (lifetime) => {
    const signals = new TaskSignals(bus.topic<TaskSignal | AgentGone>(taskTopic, retention), log);
    await signals.start();
    lifetime.own('task signals', signals);
    const journal = lifetime.own('the journal of tasks', new TaskJournal({ sql, signals, log }));
    const inbox = lifetime.own(
      'the inboxes',
      new Inbox({
        sql,
        journal,
        signals,
        directory,
        log,
        tell,
        hasUnheardWriters: () => hasUnheardWriters(bus, sql),
      }),
    );
    const local = new LocalAgents();
    const callers = {
      local,
      rest: new RestCaller(egress),
      a2a: new A2aCaller(egress),
      grpc: grpc && new GrpcAgents(grpc),
      inbox,
    };
    const choice = new AgentChoice({ directory, queueLengthMax, concurrency });
    const dispatch = new Dispatch({ choice, callers, directory, journal });
    const runner = lifetime.own(
      'the tasks',
      new MeshTaskRunner({
        dispatch,
        journal,
        signals,
        directory,
        tracer,
        log,
        tell,
      }),
    );
    const access = new TaskAccess({ tasks: runner, directory });
    const a2a = new A2aServer({ tasks: runner, access });
    const agentGone = (agentId: string) => {
      const atMs = Date.now();
      signals.tell({ kind: 'gone', agentId, atMs });
      return inbox.end(agentId, atMs);
    };
    return { runner, access, inbox, local, a2a, agentGone };
  });
}
