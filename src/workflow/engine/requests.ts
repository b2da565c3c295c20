import { Fault } from '../../kit/errors.ts';
import { hasFiniteNumbers } from '../../kit/finite-numbers.ts';
import { newId } from '../../kit/ids.ts';
import { heldForComponents } from '../components/component-permissions.ts';
import { hasSecrets } from '../components/secret-fields.ts';
import type { Plan } from '../flow/plan.ts';
import type { StoredExecution, StoredRequest } from './journal/execution-row.ts';
import type { Callbacks, StartRequest } from './execution.ts';
import { refuseClosedInputs } from './walk/given-inputs.ts';
import type { EngineSealer } from './journal/output-secrets.ts';

const tokenContext = 'workflow caller token';
const inputsContext = 'workflow inputs';
const secretContext = 'workflow callback secret';
const depthMax = 10;
const timeoutMsMax = 366 * 24 * 3_600_000;

/** A new execution as it is to be stored; nobody runs it yet. */
export function toNewExecution(
  request: StartRequest,
  { version, plan }: { readonly version: number; readonly plan: Plan },
  { sealer, nowMs }: { readonly sealer: EngineSealer; readonly nowMs: number },
): StoredExecution {
  const { ownerId, trigger, workflowId, batch, idempotencyKey } = request;
  refuseClosedInputs(request, plan);
  requireNumbers(request.inputs);
  const plain = toStoredRequest(request, sealer);
  const stored = hasSecrets(plan, 'input') ? sealInputs(plain, sealer) : plain;
  const deadlineAtMs = deadlineOf(stored, plan, nowMs);
  const callerToken = keepToken(request.callerToken, plan, sealer);
  return {
    id: newId('exe'),
    workflowId,
    version,
    status: 'queued',
    trigger,
    ownerId,
    request: stored,
    epoch: 1,
    signals: 0,
    resumes: 0,
    startedAtMs: nowMs,
    tokensUsed: 0,
    cost: 0,
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    ...(callerToken === undefined ? {} : { callerToken }),
    ...(batch ? { batch } : {}),
    ...(deadlineAtMs === undefined ? {} : { deadlineAtMs }),
  };
}

/** When an execution that begins now has to be over. */
export function deadlineOf(
  { timeoutMs }: StoredRequest,
  plan: Plan,
  nowMs: number,
): number | undefined {
  const limits = [timeoutMs, plan.flow.settings?.timeout].filter((limit) => limit !== undefined);
  return limits.length > 0 ? nowMs + Math.min(...limits, timeoutMsMax) : undefined;
}

/** The caller's token as it is stored; undefined where there is none, or nothing in the flow asks for it. */
export function keepToken(
  token: string | undefined,
  { nodes }: Plan,
  sealer: EngineSealer,
): string | undefined {
  const isAskedFor = [...nodes.values()].some(({ component }) => component.callerToken);
  return token === undefined || !isAskedFor
    ? undefined
    : sealer.seal(Buffer.from(token), tokenContext);
}

/** The token that started an execution; undefined when there was none, or it was not kept. */
export function callerTokenOf(
  { callerToken }: StoredExecution,
  sealer: EngineSealer,
): string | undefined {
  return callerToken === undefined
    ? undefined
    : sealer.unseal(callerToken, tokenContext).toString();
}

/** The execution with its inputs readable; in memory only. */
export function openInputs(stored: StoredExecution, sealer: EngineSealer): StoredExecution {
  const { sealedInputs, ...request } = stored.request;
  if (sealedInputs === undefined) return stored;
  // Written by `sealInputs`.
  const inputs = JSON.parse(sealer.unseal(sealedInputs, inputsContext).toString()) as object;
  return { ...stored, request: { ...request, inputs: { ...inputs } } };
}

/** Whom to call back, with the secret that signs. */
export function callbacksOf(
  { request }: StoredExecution,
  sealer: EngineSealer,
): Callbacks | undefined {
  const { callbacks, callbackSecret } = request;
  if (!callbacks || callbackSecret === undefined) return callbacks;
  return { ...callbacks, secret: sealer.unseal(callbackSecret, secretContext).toString() };
}

/** Throws `invalid` for a number that nobody can hold. */
export function requireNumbers(inputs: Readonly<Record<string, unknown>>): void {
  if (hasFiniteNumbers(inputs)) return;
  const message = 'a number in the inputs is too large';
  throw new Fault('invalid', message, { reason: 'validation_error' });
}

function toStoredRequest(request: StartRequest, sealer: EngineSealer): StoredRequest {
  const { inputs, inputUses, pinned, timeoutMs, maxTokens, maxCost, traceparent, parent } = request;
  if (parent && parent.depth > depthMax) {
    const message = `executions start one another at most ${depthMax} deep`;
    throw new Fault('invalid', message, { reason: 'too_deep' });
  }
  const { secret, ...callbacks } = request.callbacks ?? {};
  const permissions = heldForComponents(request.permissions);
  const stored = {
    inputs,
    inputUses,
    pinned,
    permissions: permissions.length > 0 ? permissions : undefined,
    timeoutMs,
    maxTokens,
    maxCost,
    traceparent,
    parent,
    callbacks: request.callbacks && callbacks,
    callbackSecret:
      secret === undefined ? undefined : sealer.seal(Buffer.from(secret), secretContext),
  };
  // Fields that are undefined are not written as JSON.
  return stored as StoredRequest;
}

/** Whole: what is given to a secret setting may come from anywhere in them. */
function sealInputs(request: StoredRequest, sealer: EngineSealer): StoredRequest {
  const plain = Buffer.from(JSON.stringify(request.inputs));
  return { ...request, inputs: {}, sealedInputs: sealer.seal(plain, inputsContext) };
}
