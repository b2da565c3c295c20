import { Fault } from '../../kit/errors.ts';
import type { Handlers } from '../../kit/http/call.ts';
import { WrittenJson } from '../../kit/answers/written-json.ts';
import type { gatewayContract } from '../contract.ts';
import { speaksAnthropic, writeModel, writeModels } from '../faces/anthropic/models.ts';
import type { ProviderList, Target } from '../providers/provider.ts';

type ModelHandlers = Pick<Handlers<typeof gatewayContract>, 'listModels' | 'readModel'>;

/** The routes that say which models there are, to Anthropic's clients in their own words. */
export function modelHandlers(providers: ProviderList): ModelHandlers {
  return {
    listModels: ({ headers, query }) => {
      const all = listModels(providers);
      if (!speaksAnthropic(headers)) return { object: 'list', data: all.map(describe) };
      return new WrittenJson(writeModels(all, query));
    },
    readModel: ({ headers, params: { provider, owner, model } }) => {
      const name = [provider, owner, model].filter((part) => part !== undefined).join('/');
      const target = findModel(providers, name);
      if (!speaksAnthropic(headers)) return { ...describe(target), id: name };
      return new WrittenJson(writeModel(target, name));
    },
  };
}

/** Each name once, as the first who offers it has it. */
function listModels(providers: ProviderList): readonly Target[] {
  const byName = new Map<string, Target>();
  for (const provider of providers.all()) {
    for (const model of provider.models.values()) {
      if (!byName.has(model.name)) byName.set(model.name, { provider, model });
    }
  }
  return [...byName.values()];
}

function findModel(providers: ProviderList, name: string): Target {
  const [target] = providers.targetsOf(name);
  if (target) return target;
  throw new Fault('not_found', `there is no model ${name}`, {
    reason: 'model_not_found',
    detail: { param: 'model' },
  });
}

function describe({ provider, model }: Target) {
  return {
    id: model.name,
    object: 'model',
    created: model.createdAt,
    owned_by: provider.name,
  } as const;
}
