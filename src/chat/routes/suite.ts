import type { Handlers } from '../../kit/http/call.ts';
import type { Contract } from '../../kit/contract.ts';
import { suiteRoutes } from '../schemas/suite.ts';
import type { SuiteParts } from '../suite/suite-parts.ts';

type SuiteHandlers = Handlers<Contract & { readonly routes: typeof suiteRoutes }>;

/** What tells of chat, and what governs its suite. */
export function suiteHandlers({ report, control, metrics }: SuiteParts): SuiteHandlers {
  return {
    health: () => report.health(),
    info: () => report.info(),
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
