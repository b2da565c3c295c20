import { Fault } from '../../kit/errors.ts';
import type { Handlers } from '../../kit/http/call.ts';
import type { gatewayContract } from '../contract.ts';
import type { ProviderList, Target } from '../providers/provider.ts';

type ModelHandlers = Pick<Handlers<typeof gatewayContract>, 'listModels' | 'readModel'>;

/** The routes that say which models there are. */
export function modelHandlers(providers: ProviderList): ModelHandlers {
  return {
    listModels: () => ({ object: 'list', data: listModels(providers) }),
    readModel: ({ params: { provider, owner, model } }) => {
      const name = [provider, owner, model].filter((part) => part !== undefined).join('/');
      const [target] = providers.targetsOf(name);
      if (target) return { ...describe(target), id: name };
      throw new Fault('not_found', `there is no model ${name}`, {
        reason: 'model_not_found',
        detail: { param: 'model' },
      });
    },
  };
}

/** Each name once, as the first who offers it has it. */
function listModels(providers: ProviderList) {
  const byName = new Map<string, ReturnType<typeof describe>>();
  for (const provider of providers.all()) {
    for (const model of provider.models.values()) {
      if (!byName.has(model.name)) byName.set(model.name, describe({ provider, model }));
    }
  }
  return [...byName.values()];
}

function describe({ provider, model }: Target) {
  return {
    id: model.name,
    object: 'model',
    created: model.createdAt,
    owned_by: provider.name,
  } as const;
}
