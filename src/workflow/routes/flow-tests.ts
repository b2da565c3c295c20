import type { Handler } from '../../kit/http/call.ts';
import type { FlowTest } from '../definitions/flow-test.ts';
import type { FlowTestResult, FlowTests } from '../definitions/flow-tests.ts';
import type { flowTestRoutes as routes } from '../schemas/flow-tests.ts';
import { actorOf } from './actor.ts';

type FlowTestHandlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };

/** The edge of the tests of workflows. */
export function flowTestHandlers({ tests }: { readonly tests: FlowTests }): FlowTestHandlers {
  return {
    readFlowTests: async ({ params, identity }) =>
      toAnswer(await tests.read(params.id, actorOf(identity))),
    writeFlowTests: async ({ params, body, identity }) => {
      const given = body.tests.map(({ inputs = {}, pinned = {}, ...test }) => ({
        ...test,
        inputs: inputs as FlowTest['inputs'],
        pinned: pinned as FlowTest['pinned'],
      }));
      await tests.write(params.id, given, actorOf(identity));
      return toAnswer(given);
    },
    runFlowTests: async ({ params, body, identity, signal }) => {
      const results = await tests.run(params.id, { ...body, signal }, actorOf(identity));
      const failed = results.filter(({ isPassed }) => !isPassed).length;
      const total = results.length;
      return { passed: failed === 0, total, failed, results: results.map(toResult) };
    },
  };
}

function toAnswer(tests: readonly FlowTest[]) {
  return { tests: copyOfTests(tests) };
}

/** With lists that the answer's type may change. */
export function copyOfTests(tests: readonly FlowTest[]) {
  return tests.map((test) => ({ ...test, expect: [...test.expect] }));
}

function toResult({ name, isPassed, executionId, status, durationMs, misses }: FlowTestResult) {
  return {
    name,
    passed: isPassed,
    executionId,
    status,
    duration: durationMs,
    failures: [...misses],
  };
}
