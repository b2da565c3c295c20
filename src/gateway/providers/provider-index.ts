import { groupBy } from '../../kit/group-by.ts';
import { targetId, type Provider, type ProviderList, type Target } from './provider.ts';

/** The providers of one moment; never changes. */
export class ProviderIndex implements ProviderList {
  readonly #providers: readonly Provider[];
  readonly #byName: ReadonlyMap<string, Provider>;
  readonly #byModel: Map<string, Target[]>;
  readonly #byPath: Map<string, Target[]>;

  constructor(providers: readonly Provider[]) {
    const targets = providers.flatMap((provider) =>
      [...provider.models.values()].map((model) => ({ provider, model })),
    );
    this.#providers = providers;
    this.#byName = new Map(providers.map((provider) => [provider.name, provider]));
    this.#byModel = groupBy(targets, ({ model }) => model.name);
    this.#byPath = groupBy(targets, targetId);
    const aliases = targets.flatMap((target) => {
      const name = otherName(target);
      // A provider that has both keeps them apart.
      return name === undefined || target.provider.models.has(name) ? [] : [{ name, target }];
    });
    addAliases(this.#byModel, aliases);
    const paths = aliases.map(({ name, target }) => {
      return { name: `${target.provider.name}/${name}`, target };
    });
    addAliases(this.#byPath, paths);
  }

  all(): readonly Provider[] {
    return this.#providers;
  }

  find(name: string): Provider | undefined {
    return this.#byName.get(name);
  }

  /**
   * The same array each time. Who names a provider means it alone, also where another one has a
   * model that is called so. Models of Ollama are found with and without the tag `latest`, behind
   * those that are called exactly so.
   */
  targetsOf(model: string): readonly Target[] {
    return this.#byPath.get(model) ?? this.#byModel.get(model) ?? nobody;
  }
}

const latest = ':latest';

/** The other name of a model whose tag goes without saying. */
function otherName({ provider, model: { name } }: Target): string | undefined {
  if (provider.dialect !== 'ollama') return undefined;
  if (name.endsWith(latest)) return name.slice(0, -latest.length);
  return name.includes(':') ? undefined : name + latest;
}

const nobody: readonly Target[] = [];

interface Alias {
  readonly name: string;
  readonly target: Target;
}

function addAliases(groups: Map<string, Target[]>, aliases: readonly Alias[]): void {
  for (const { name, target } of aliases) groups.set(name, [...(groups.get(name) ?? []), target]);
}
