import { Fault } from '../../kit/errors.ts';
import type { Handler } from '../../kit/http/call.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import { allows } from '../../kit/permissions.ts';
import type { Connection, SocketRequest } from '../../kit/sockets/connection.ts';
import { approvalPage, decidedPage } from '../engine/approval-page.ts';
import { approversOf, isOpenApproval, messageOf, type Approvals } from '../engine/approvals.ts';
import { statusOf, toNodeList, toStarted, toSummary } from '../engine/execution-answers.ts';
import type { Engine, Execution, ExecutionStatus } from '../engine/execution.ts';
import type { WorkflowEngine } from '../engine/engine.ts';
import { executionNotFound } from '../engine/follow.ts';
import type { executionRoutes, executionSockets } from '../schemas/executions.ts';
import { callerTokenOf } from './caller-token.ts';
import { serveReplay } from './replayed-stream.ts';

type Routes = typeof executionRoutes;
type ExecutionHandlers = { readonly [K in keyof Routes]: Handler<Routes[K]> };

export interface ExecutionHandlerParts {
  readonly engine: Engine & Pick<WorkflowEngine, 'list'>;
  readonly approvals: Approvals;
  /** Of this service, without a slash at the end. */
  readonly baseUrl: string;
}

/** The edge of the executions. */
export function executionHandlers(parts: ExecutionHandlerParts): ExecutionHandlers {
  const { engine, baseUrl } = parts;
  const read = (executionId: string, identity: Identity) => readOwn(engine, executionId, identity);
  const answer = (execution: Execution) => statusOf(engine, execution);
  return {
    listExecutions: ({ query, identity }) => list(engine, identity, query),
    listWorkflowExecutions: ({ params, query, identity }) =>
      list(engine, identity, { ...query, ...params }),
    readExecution: async ({ params: { executionId }, query: { wait }, identity, signal }) => {
      const execution = await read(executionId, identity);
      if (wait === 0 || execution.completedAtMs !== undefined) return answer(execution);
      return answer(await engine.wait(executionId, { timeoutMs: wait * 1_000, signal }));
    },
    listNodes: async ({ params: { executionId }, query, identity }) =>
      toNodeList(engine, await read(executionId, identity), query),
    cancelExecution: async ({ params: { executionId }, identity }) => {
      await read(executionId, identity);
      return answer(await engine.cancel(executionId, identity.subject));
    },
    resumeExecution: async ({ params: { executionId }, body, identity, headers }) => {
      await read(executionId, identity);
      const asker = { ...body, ...callerTokenOf(headers) };
      return toStarted(await engine.resume(executionId, asker), baseUrl);
    },
    rerunExecution: async ({ params: { executionId }, body, identity, headers }) => {
      await read(executionId, identity);
      const { fromNode, inputs } = body;
      const { subject: ownerId, permissions } = identity;
      const options = { fromNode, ownerId, permissions, ...callerTokenOf(headers) };
      const started = await engine.rerun(executionId, inputs ? { ...options, inputs } : options);
      return toStarted(started, baseUrl);
    },
    ...approvalHandlers(parts),
  };
}

/** The streams of the executions. */
export function executionSocketHandlers(engine: Pick<Engine, 'find' | 'follow'>) {
  type Stream = typeof executionSockets.executionStream;
  return {
    executionStream: {
      admit: async ({ params, identity, query }: SocketRequest<Stream>) => {
        readAfter(query);
        await readOwn(engine, params.executionId, identity);
      },
      serve: (connection: Connection<Stream>): void => {
        stream(engine, connection);
      },
    },
  };
}

type ApprovalRoutes = 'approveNode' | 'readApproval' | 'decideApproval';

function approvalHandlers({
  approvals,
}: ExecutionHandlerParts): Pick<ExecutionHandlers, ApprovalRoutes> {
  return {
    approveNode: async ({ params: { executionId, nodeId }, query, body, identity }) => {
      const place = { executionId, nodeId, iteration: query.iteration };
      await requireApprover(approvals, place, identity);
      const { approved, comment, output } = body;
      await approvals.decide(place, {
        approved,
        by: identity.subject,
        ...(comment === undefined ? {} : { comment }),
        ...(output ? { output } : {}),
      });
      return { executionId, nodeId, approved };
    },
    readApproval: async ({ params, headers }) => {
      const place = approvals.readLink(params.token);
      const { run } = await approvals.find(place);
      const { executionId, nodeId } = place;
      const message = messageOf(run);
      const view = { executionId, nodeId, message, isOpen: isOpenApproval(run) };
      return prefersPage(headers.accept) ? approvalPage(view) : view;
    },
    decideApproval: async ({ params, body, headers }) => {
      const place = approvals.readLink(params.token);
      const approved = String(body.approved) === 'true';
      const { comment } = body;
      const said = comment ? { comment } : {};
      await approvals.decide(place, { approved, by: 'link', ...said });
      if (prefersPage(headers.accept)) return decidedPage(approved);
      return { executionId: place.executionId, nodeId: place.nodeId, approved };
    },
  };
}

/** The approvers that the node names, else whose the execution is; to others it is not there. */
async function requireApprover(
  approvals: Approvals,
  place: Parameters<Approvals['find']>[0],
  { subject, permissions }: Identity,
): Promise<void> {
  const { execution, run } = await approvals.find(place);
  const approvers = approversOf(run);
  if (approvers?.includes(subject)) return;
  const isOwner = execution.ownerId === subject || allows(permissions, 'workflow:admin');
  if (!isOwner) throw executionNotFound();
  if (approvers) {
    const message = 'only the named approvers decide this';
    throw new Fault('forbidden', message, { reason: 'not_an_approver' });
  }
}

async function list(
  engine: Pick<WorkflowEngine, 'list'>,
  { subject, permissions }: Identity,
  query: {
    readonly limit: number;
    readonly offset: number;
    readonly workflowId?: string;
    readonly status?: 'running' | 'completed' | 'failed' | 'cancelled';
  },
) {
  const { limit, offset, workflowId, status } = query;
  const { executions, total } = await engine.list(
    {
      ...(allows(permissions, 'workflow:admin') ? {} : { ownerId: subject }),
      ...(workflowId === undefined ? {} : { workflowId }),
      ...(status === undefined ? {} : { statuses: statusesOf(status) }),
    },
    { limit, offset },
  );
  return { executions: executions.map(toSummary), total, limit, offset };
}

function statusesOf(status: ExecutionStatus): ExecutionStatus[] {
  return status === 'running' ? ['queued', 'running', 'waiting'] : [status];
}

/** An execution of the caller; others' are not there. */
async function readOwn(
  engine: Pick<Engine, 'find'>,
  executionId: string,
  { subject, permissions }: Identity,
): Promise<Execution> {
  const execution = await engine.find(executionId);
  const isVisible = execution?.ownerId === subject || allows(permissions, 'workflow:admin');
  if (!execution || !isVisible) throw executionNotFound();
  return execution;
}

function stream(
  engine: Pick<Engine, 'follow'>,
  connection: Connection<typeof executionSockets.executionStream>,
): void {
  const { params, query } = connection;
  serveReplay(connection, {
    after: readAfter(query),
    tell: async (after, reader) => {
      for await (const event of engine.follow(params.executionId, after, reader.signal)) {
        await reader.send(event);
      }
      reader.close(1000, 'the execution has ended');
    },
  });
}

function readAfter(query: URLSearchParams): number {
  const text = query.get('after') ?? '0';
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new Fault('invalid', 'after is the seq of an event', {
    reason: 'validation_error',
    detail: { param: 'after' },
  });
}

function prefersPage(accept: string | undefined): boolean {
  return /text\/html/.test(accept ?? '');
}
