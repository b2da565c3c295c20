import type { Bus } from '../kit/bus/bus.ts';
import type { Lifetime } from '../kit/lifecycle.ts';
import type { Sealer } from '../kit/secrets/sealing.ts';
import type { ComponentTable } from './components/component.ts';
import { Catalog } from './definitions/catalog.ts';
import { Definitions } from './definitions/definitions.ts';
import { FlowCompiler } from './definitions/flow-compiler.ts';
import { FlowSecrets } from './definitions/flow-secrets.ts';
import { Plans } from './definitions/plans.ts';
import { WorkflowSecrets } from './definitions/workflow-secrets.ts';
import type { WorkflowSql } from './definitions/workflow-store.ts';

/** Workflows as they are stored and compiled. */
export interface DefinitionParts {
  readonly compiler: FlowCompiler;
  readonly flowSecrets: FlowSecrets;
  readonly plans: Plans;
  readonly secrets: WorkflowSecrets;
  readonly definitions: Definitions;
  readonly catalog: Catalog;
}

export interface DefinitionGround {
  readonly sql: WorkflowSql;
  readonly bus: Bus;
  readonly sealer: Sealer;
  readonly components: ComponentTable;
}

/** Opens what knows workflows and runs nothing. */
export async function openDefinitionParts(
  { sql, bus, sealer, components }: DefinitionGround,
  lifetime: Lifetime,
): Promise<DefinitionParts> {
  const compiler = new FlowCompiler(components);
  const flowSecrets = new FlowSecrets({ components, sealer });
  const plans = lifetime.own('the plans', await Plans.open({ sql, bus, compiler, flowSecrets }));
  const secrets = new WorkflowSecrets(sql, sealer);
  const definitions = new Definitions({ sql, plans, compiler, secrets, flowSecrets });
  return {
    compiler,
    flowSecrets,
    plans,
    secrets,
    definitions,
    catalog: new Catalog({ sql, definitions, plans }),
  };
}
