import type { Handlers } from '../../kit/http/call.ts';
import type { Contract } from '../../kit/contract.ts';
import { suiteRoutes } from '../schemas/suite.ts';
import { endpointsOf, featuresOf } from '../suite/features.ts';
import type { SuiteParts } from '../suite/suite-parts.ts';

type SuiteHandlers = Handlers<Contract & { readonly routes: typeof suiteRoutes }>;

/** What tells of chat, and what governs its suite. */
export function suiteHandlers({ contract, report, control, metrics }: SuiteParts): SuiteHandlers {
  return {
    health: () => report.health(),
    info: () => ({
      name: contract.name,
      description: contract.description,
      version: contract.version,
      features: featuresOf(contract).map(({ name }) => name),
      endpoints: endpointsOf(contract),
    }),
    startServices: async ({ body }) => {
      const { services, ...outcome } = await control.start(body.profile);
      return { ...outcome, services: [...services] };
    },
    stopServices: async ({ body }) => {
      const { success, message } = await control.stop(body.profile);
      return { success, message };
    },
    listContainers: async () => ({ containers: [...(await control.containers())] }),
    metrics: () => metrics.answer(),
  };
}
