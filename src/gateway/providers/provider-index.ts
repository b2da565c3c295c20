import { targetId, type Provider, type ProviderList, type Target } from './provider.ts';

/** The providers of one moment; never changes. */
export class ProviderIndex implements ProviderList {
  readonly #providers: readonly Provider[];
  readonly #byName: ReadonlyMap<string, Provider>;
  readonly #byModel: ReadonlyMap<string, readonly Target[]>;
  readonly #byPath: ReadonlyMap<string, readonly Target[]>;

  constructor(providers: readonly Provider[]) {
    const targets = providers.flatMap((provider) =>
      [...provider.models.values()].map((model) => ({ provider, model })),
    );
    this.#providers = providers;
    this.#byName = new Map(providers.map((provider) => [provider.name, provider]));
    this.#byModel = groupBy(targets, ({ model }) => model.name);
    this.#byPath = groupBy(targets, targetId);
  }

  all(): readonly Provider[] {
    return this.#providers;
  }

  find(name: string): Provider | undefined {
    return this.#byName.get(name);
  }

  /**
   * The same array each time. Who names a provider means it alone, also where another one has a
   * model that is called so.
   */
  targetsOf(model: string): readonly Target[] {
    return this.#byPath.get(model) ?? this.#byModel.get(model) ?? nobody;
  }
}

const nobody: readonly Target[] = [];

function groupBy(
  targets: readonly Target[],
  nameOf: (target: Target) => string,
): ReadonlyMap<string, readonly Target[]> {
  const groups = new Map<string, Target[]>();
  for (const target of targets) {
    const name = nameOf(target);
    const group = groups.get(name);
    if (group) group.push(target);
    else groups.set(name, [target]);
  }
  return groups;
}
