import { Fault } from '../../kit/errors.ts';
import type { Handler } from '../../kit/http/call.ts';
import type { McpEndpoint } from '../../kit/mcp/endpoint.ts';
import type { Log } from '../../kit/log.ts';
import type { Flow } from '../flow/flow.ts';
import type { Interop } from '../interop/interop.ts';
import type { ImportReport } from '../interop/report.ts';
import type { interopRoutes as routes } from '../schemas/interop.ts';
import { actorOf } from './actor.ts';
import { copyOfTests } from './flow-tests.ts';
import { toAnswer } from './workflows.ts';

type InteropHandlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };

export interface InteropHandlerParts {
  readonly interop: Pick<Interop, 'import' | 'exportOwn' | 'exportServerless'>;
  readonly mcp: Pick<McpEndpoint, 'handle'>;
  readonly log: Log;
}

/** The edge of workflows that come from elsewhere, go elsewhere and are tools. */
export function interopHandlers({ interop, mcp, log }: InteropHandlerParts): InteropHandlers {
  return {
    importWorkflow: async (call) => {
      const { body, identity } = call;
      const { dryRun: isDryRun = false, ...request } = body;
      const made = await interop.import({ ...request, isDryRun }, identity.subject);
      const report = toReport(made.report);
      if (!made.workflow) {
        call.setStatus(200);
        return { name: made.name, flow: copyOf(made.flow), report };
      }
      const { id } = made.workflow;
      const { format, fidelity } = made.report;
      log.info(
        { workflowId: id, by: identity.subject, format, fidelity },
        'a workflow was imported',
      );
      call.setStatus(201);
      return { ...toAnswer(made.workflow), report };
    },
    exportWorkflow: async ({ params, query, identity }) => {
      const wanted = { version: query.version, actor: actorOf(identity) };
      if (query.format === 'ennead') {
        const { tests, ...document } = await interop.exportOwn(params.id, wanted);
        return {
          ...document,
          tags: [...document.tags],
          flow: copyOf(document.flow),
          ...(tests ? { tests: copyOfTests(tests) } : {}),
        };
      }
      const { text, unsupported } = await interop.exportServerless(params.id, wanted);
      return new Response(text, {
        headers: {
          'content-type': 'application/yaml; charset=utf-8',
          'x-ennead-unsupported': String(unsupported.length),
        },
      });
    },
    mcp: async (call) => {
      if (call.body === undefined) throw new Fault('invalid', 'a JSON-RPC message is needed');
      return mcp.handle(call);
    },
  };
}

function toReport({ nodes, unsupported, warnings, ...rest }: ImportReport) {
  return {
    ...rest,
    nodes: nodes.map((one) => ({ ...one })),
    unsupported: [...unsupported],
    warnings: [...warnings],
  };
}

/** With lists that the answer's type may change. */
function copyOf({ nodes, edges, settings }: Flow) {
  return {
    nodes: nodes.map((one) => ({ ...one })),
    edges: [...edges],
    ...(settings ? { settings } : {}),
  };
}
