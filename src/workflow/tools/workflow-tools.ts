import { Fault } from '../../kit/errors.ts';
import type {
  CallToolResult,
  McpCallContext,
  McpCaller,
  McpTools,
  Tool,
  ToolPage,
} from '../../kit/mcp/tools.ts';
import { formatTraceparent } from '../../kit/trace/trace-context.ts';
import type { Catalog } from '../definitions/catalog.ts';
import { findTemplate } from '../definitions/templates/templates.ts';
import type { Workflow } from '../definitions/workflow.ts';
import type { Engine, Execution, ExecutionEvent, PlanSource } from '../engine/execution.ts';
import { allInputs } from '../engine/walk/given-inputs.ts';
import type { Plan } from '../flow/plan.ts';
import { findTool, nameTools, type NamedWorkflow } from './tool-names.ts';

export interface WorkflowToolsOptions {
  readonly catalog: Pick<Catalog, 'names' | 'readAll'>;
  readonly plans: PlanSource;
  readonly engine: Pick<Engine, 'start' | 'find' | 'cancel' | 'follow'>;
}

/** Of tools in one answer to who lists them. */
const pageSize = 200;

/** Active workflows as tools: a call is an execution, and its result the answer. */
export class WorkflowTools implements McpTools {
  readonly #options: WorkflowToolsOptions;

  constructor(options: WorkflowToolsOptions) {
    this.#options = options;
  }

  /** In the order of their ids, the last of which is the cursor. */
  async list(_caller: McpCaller, cursor = ''): Promise<ToolPage> {
    const named = [...nameTools(await this.#options.catalog.names())]
      .filter(([, { id }]) => id > cursor)
      .toSorted(([, a], [, b]) => (a.id < b.id ? -1 : 1));
    const page = named.slice(0, pageSize);
    const workflows = await this.#options.catalog.readAll(page.map(([, { id }]) => id));
    const byId = new Map(workflows.map((workflow) => [workflow.id, workflow]));
    const tools = await Promise.all(
      page.map(async ([name, { id }]) => {
        const workflow = byId.get(id);
        const plan = workflow && (await this.#planOf(id));
        return plan ? [toTool(name, workflow, plan)] : [];
      }),
    );
    const last = named.length > pageSize ? page.at(-1)?.[1].id : undefined;
    return { tools: tools.flat(), ...(last === undefined ? {} : { nextCursor: last }) };
  }

  async call(name: string, input: unknown, context: McpCallContext): Promise<CallToolResult> {
    const workflow = await this.#find(name);
    const inputs = readInputs(input);
    const started = await this.#options.engine.start({
      workflowId: workflow.id,
      inputs,
      // A model makes up arguments: they are what the tool says that it takes, and no settings of nodes.
      inputUses: allInputs(inputs, 'read'),
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

  async #find(name: string): Promise<NamedWorkflow> {
    const workflow = findTool(await this.#options.catalog.names(), name);
    if (workflow) return workflow;
    throw new Fault('not_found', 'no active workflow is a tool of that name', {
      reason: 'tool_not_found',
    });
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
