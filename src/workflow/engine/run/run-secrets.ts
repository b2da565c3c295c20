import { hasSecrets } from '../../components/secret-fields.ts';
import type { Plan } from '../../flow/plan.ts';
import type { StoredExecution } from '../journal/execution-row.ts';
import { OutputSecrets, type EngineSealer } from '../journal/output-secrets.ts';
import type { History } from './recovery.ts';
import { openInputs } from '../requests.ts';

interface RunGround {
  readonly stored: StoredExecution;
  readonly plan: Plan;
  readonly history: History;
}

/** What a run works on, with the inputs open and its outputs' secrets known. */
export function openSecrets({ stored, plan, history }: RunGround, sealer: EngineSealer): RunGround {
  const secrets = hasSecrets(plan, 'output') ? { secrets: new OutputSecrets(sealer) } : {};
  return { plan, stored: openInputs(stored, sealer), history: { ...history, ...secrets } };
}
