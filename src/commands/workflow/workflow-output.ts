import { printFacts, printLine, printTable } from '../output.ts';
import type { FlowFault } from '../../workflow/flow/flow.ts';
import type { WorkflowClient } from './workflow-access.ts';

type Answer<Name extends keyof WorkflowClient> = WorkflowClient[Name] extends (
  ...given: never[]
) => Promise<infer Result>
  ? Result
  : never;

type ExecutionAnswer = Answer<'readExecution'>;
type TestsAnswer = Answer<'runFlowTests'>;

/** What the stream tells of an execution. */
export interface StreamEvent {
  readonly type: string;
  readonly timestamp?: string;
  readonly nodeId?: string;
  readonly iteration?: string;
  readonly duration?: number;
  readonly delay?: number;
  readonly error?: { readonly message?: string; readonly code?: string };
}

/** One line for an event. */
export function printEvent(event: StreamEvent): void {
  const { type, timestamp = '', nodeId, iteration, duration, delay, error } = event;
  const round = iteration ? ` [${iteration}]` : '';
  const took = duration === undefined ? '' : `  ${duration} ms`;
  const wait = delay === undefined ? '' : `  again in ${delay} ms`;
  const reason = error ? `  ${error.code ?? ''}: ${error.message ?? ''}` : '';
  printLine(`${timestamp}  ${type.padEnd(18)}  ${nodeId ?? ''}${round}${took}${wait}${reason}`);
}

/** One line for what is wrong with a flow. */
export function describeFault({
  code,
  nodeId,
  message,
}: Pick<FlowFault, 'code' | 'nodeId' | 'message'>): string {
  return nodeId === undefined ? `${code}  ${message}` : `${code}  ${nodeId}  ${message}`;
}

/** An execution, its nodes and its result. */
export function printExecution(execution: ExecutionAnswer): void {
  const { executionId, workflowId, version, status, duration, error, tokensUsed, cost } = execution;
  printFacts({
    execution: executionId,
    workflow: `${workflowId}, version ${version}`,
    status,
    started: execution.startedAt,
    duration: duration === undefined ? undefined : `${duration} ms`,
    tokens: tokensUsed > 0 ? tokensUsed : undefined,
    cost: cost > 0 ? `$${cost.toFixed(4)}` : undefined,
    error: error && `${error.nodeId}: ${error.message} (${error.code})`,
  });
  if (execution.nodes.length > 0) {
    printLine('');
    printTable(execution.nodes, [
      { title: 'NODE', of: ({ nodeId }) => nodeId },
      { title: 'ROUND', of: ({ iteration }) => iteration },
      { title: 'STATUS', of: (node) => node.status },
      {
        title: 'DURATION',
        of: (node) => (node.duration === undefined ? '' : `${node.duration} ms`),
      },
      { title: 'MODEL', of: ({ modelUsed }) => modelUsed },
      { title: 'TOKENS', of: (node) => node.tokensUsed },
    ]);
    const { nodes, nodesTotal } = execution;
    if (nodesTotal !== undefined) printLine(`the newest ${nodes.length} of ${nodesTotal} nodes`);
  }
  if (execution.result) printLine(`\n${JSON.stringify(execution.result, undefined, 2)}`);
}

/** Each test, and why it failed. */
export function printTests({ results, total, failed }: TestsAnswer): void {
  for (const { passed, name, duration, failures } of results) {
    printLine(`${passed ? 'passed' : 'FAILED'}  ${name}  ${duration} ms`);
    for (const { message, actual } of failures) {
      const got = actual === undefined ? '' : `; got ${JSON.stringify(actual)}`;
      printLine(`        ${message}${got}`);
    }
  }
  printLine(`${total - failed} of ${total} passed`);
}
