import { Fault } from '../../kit/errors.ts';
import type { ProgramIdentity, RunningProgram, Runtime, RuntimeSpec } from '../runtimes/runtime.ts';
import type { Agent } from './agent.ts';
import type { AgentKey } from './credentials.ts';
import type { Presence } from './presence.ts';

export interface StartSettings {
  /** Where the suite answers, as agents see it. */
  readonly urls: ProgramIdentity['urls'];
  readonly heartbeatSeconds: number;
  /** The folder of a workspace, absolute; undefined when it is gone. */
  readonly folderOf: (workspaceId: string) => Promise<string | undefined>;
}

/** What a runtime needs to find an agent's program, or to start it when a key is given. */
export async function specOf(
  agent: Agent,
  settings: StartSettings,
  key?: AgentKey,
): Promise<RuntimeSpec> {
  const { id, workspaceId, resources } = agent;
  const folder = workspaceId === undefined ? undefined : await settings.folderOf(workspaceId);
  const identity = key && identityOf(agent, { settings, key, folder });
  return {
    agentId: id,
    resources,
    ...(folder === undefined ? {} : { folder }),
    ...(identity ? { identity } : {}),
  };
}

function identityOf(
  agent: Agent,
  given: {
    readonly settings: StartSettings;
    readonly key: AgentKey;
    readonly folder: string | undefined;
  },
): ProgramIdentity {
  const { settings, key, folder } = given;
  const { id, name, template, capabilities, workspaceId } = agent;
  return {
    agentId: id,
    name,
    template,
    capabilities,
    urls: settings.urls,
    apiKey: key.apiKey,
    heartbeatSeconds: settings.heartbeatSeconds,
    ...(workspaceId === undefined ? {} : { workspaceId }),
    ...(folder === undefined ? {} : { folder }),
  };
}

/** Tells a warm program who it is; starts one where there is none, or it has died while it waited. */
export async function startProgram(
  runtime: Runtime,
  spec: RuntimeSpec,
  warm: RunningProgram | undefined,
): Promise<RunningProgram> {
  const missing = await runtime.missing();
  if (missing !== undefined) throw runtimeUnavailable(runtime.name, missing);
  if (!warm || !spec.identity) return runtime.start(spec);
  try {
    await warm.tell(spec.identity);
    return warm;
  } catch {
    await warm.stop(0);
    return runtime.start(spec);
  }
}

/** The one Fault for a runtime that cannot be used, with what is missing. */
export function runtimeUnavailable(name: string, missing: string): Fault {
  return new Fault('unavailable', `the runtime ${name} cannot be used: ${missing}`, {
    reason: 'runtime_unavailable',
    detail: { reason: 'runtime_unavailable', runtime: name, missing },
  });
}

export interface HeardOptions {
  readonly agentId: string;
  readonly presence: Presence;
  /** The registration that was there before. */
  readonly after: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Throws with how it ended. */
  readonly onEnded: (end: Awaited<RunningProgram['ended']>) => never;
}

/**
 * Resolves when the mesh has heard the program. Rejects when it ends before, after the limit with a
 * Fault `start_timeout`, and with the signal.
 */
export async function untilHeard(program: RunningProgram, options: HeardOptions): Promise<void> {
  const { agentId, presence, after, timeoutMs, signal, onEnded } = options;
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), timeoutMs);
  const stop = new AbortController();
  const either = AbortSignal.any([signal, limit.signal, stop.signal]);
  try {
    const heard = presence.untilRegistered(agentId, after, either);
    await Promise.race([heard, program.ended.then(onEnded)]);
  } catch (error) {
    if (!limit.signal.aborted || signal.aborted) throw error;
    const seconds = Math.round(timeoutMs / 1_000);
    throw new Fault('deadline', `the mesh did not hear it within ${seconds} s`, {
      reason: 'start_timeout',
    });
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}

/** Resolves with the signal, and never rejects. */
export function untilAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}
