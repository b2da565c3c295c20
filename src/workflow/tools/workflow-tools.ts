import { Fault } from '../../kit/errors.ts';
import type { CallToolResult, McpCallContext, McpTools, Tool } from '../../kit/mcp/tools.ts';
import { formatTraceparent } from '../../kit/trace-context.ts';
import type { Catalog } from '../definitions/catalog.ts';
import { findTemplate } from '../definitions/templates/templates.ts';
import type { Workflow } from '../definitions/workflow.ts';
import type { Engine, Execution, ExecutionEvent, PlanSource } from '../engine/execution.ts';
import type { Plan } from '../flow/plan.ts';
import { markedName, nameTools } from './tool-names.ts';

export interface WorkflowToolsOptions {
  readonly catalog: Pick<Catalog, 'list'>;
  readonly plans: PlanSource;
  readonly engine: Pick<Engine, 'start' | 'find' | 'cancel' | 'follow'>;
}

const pageSize = 100;
/** More tools than that no model can choose among. */
const toolsMax = 500;

/** Active workflows as tools: a call is an execution, and its result the answer. */
export class WorkflowTools implements McpTools {
  readonly #options: WorkflowToolsOptions;

  constructor(options: WorkflowToolsOptions) {
    this.#options = options;
  }

  async list(): Promise<readonly Tool[]> {
    const named = nameTools(await this.#workflows());
    const tools = await Promise.all(
      [...named].map(async ([name, workflow]) => {
        const plan = await this.#planOf(workflow.id);
        return plan ? [toTool(name, workflow, plan)] : [];
      }),
    );
    return tools.flat();
  }

  async call(name: string, input: unknown, context: McpCallContext): Promise<CallToolResult> {
    const workflow = await this.#find(name);
    const started = await this.#options.engine.start({
      workflowId: workflow.id,
      inputs: readInputs(input),
      ownerId: context.identity.subject,
      permissions: context.identity.permissions,
      trigger: 'tool',
      traceparent: formatTraceparent(context.span.spanContext()),
    });
    try {
      await this.#watch(started.id, context);
    } catch (error) {
      if (context.signal.aborted) await this.#cancel(started.id, context);
      throw error;
    }
    if (context.signal.aborted) await this.#cancel(started.id, context);
    return toResult((await this.#options.engine.find(started.id)) ?? started);
  }

  async #watch(executionId: string, { signal, report }: McpCallContext): Promise<void> {
    let progress = 0;
    for await (const event of this.#options.engine.follow(executionId, 0, signal)) {
      const message = messageOf(event);
      if (message === undefined) continue;
      progress += 1;
      report({ progress, message });
    }
  }

  /** It may have ended just now. */
  async #cancel(executionId: string, { identity }: McpCallContext): Promise<void> {
    await this.#options.engine.cancel(executionId, identity.subject).catch((error: unknown) => {
      if (Fault.from(error).code !== 'conflict') throw error;
    });
  }

  async #find(name: string): Promise<Workflow> {
    const workflows = await this.#workflows();
    const workflow =
      nameTools(workflows).get(name) ?? workflows.find((one) => markedName(one) === name);
    if (workflow) return workflow;
    throw new Fault('not_found', 'no active workflow is a tool of that name', {
      reason: 'tool_not_found',
    });
  }

  async #workflows(): Promise<readonly Workflow[]> {
    const found: Workflow[] = [];
    for (let offset = 0; offset < toolsMax; offset += pageSize) {
      const { workflows, total } = await this.#options.catalog.list(
        {},
        { limit: pageSize, offset },
      );
      found.push(...workflows);
      if (found.length >= total || workflows.length === 0) break;
    }
    return found;
  }

  /** Undefined when it was archived a moment ago. */
  async #planOf(workflowId: string): Promise<Plan | undefined> {
    try {
      return (await this.#options.plans.load(workflowId)).plan;
    } catch (error) {
      const { code } = Fault.from(error);
      if (code === 'not_found' || code === 'conflict') return undefined;
      throw error;
    }
  }
}

function toTool(name: string, workflow: Workflow, plan: Plan): Tool {
  const effects = [...plan.nodes.values()].map(({ component }) => component.effect);
  const acts = effects.includes('once');
  return {
    name,
    title: workflow.name,
    description: workflow.description || `Runs the workflow “${workflow.name}”.`,
    inputSchema: { type: 'object', properties: propertiesOf(workflow, plan) },
    outputSchema: { type: 'object' },
    annotations: { readOnlyHint: !acts, openWorldHint: acts },
  };
}

/** What its placeholders and conditions read of `inputs`; any value is taken. */
function propertiesOf({ templateId = '' }: Workflow, { inputNames = [] }: Plan) {
  const described = new Map(
    findTemplate(templateId)?.inputs.map((input) => [input.name, input.description]),
  );
  const properties = inputNames.map((name) => {
    const description = described.get(name) ?? `inputs.${name}`;
    return [name, { description }] as const;
  });
  return Object.fromEntries(properties);
}

function readInputs(input: unknown): Readonly<Record<string, unknown>> {
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) {
    return input as Readonly<Record<string, unknown>>;
  }
  throw new Fault('invalid', 'the arguments must be an object', { reason: 'validation_error' });
}

function messageOf({ type, nodeId = '', error }: ExecutionEvent): string | undefined {
  if (type === 'node-completed') return `${nodeId} completed`;
  if (type === 'node-waiting') return `${nodeId} waits`;
  if (type === 'node-retrying') return `${nodeId} is tried again`;
  return type === 'node-failed' ? `${nodeId} failed: ${error?.message ?? ''}` : undefined;
}

function toResult({ id, status, result = {}, error }: Execution): CallToolResult {
  // The protocol's own name.
  // oxlint-disable-next-line no-underscore-dangle
  const _meta = { executionId: id };
  if (status === 'completed') {
    return {
      content: [{ type: 'text', text: JSON.stringify(result) }],
      structuredContent: { ...result },
      _meta,
    };
  }
  const reason = error ? `${error.nodeId}: ${error.message} (${error.code})` : status;
  const text = `the workflow ended as ${status}: ${reason}; execution ${id}`;
  return { content: [{ type: 'text', text }], isError: true, _meta };
}
