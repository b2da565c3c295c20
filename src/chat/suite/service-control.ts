import { Fault } from '../../kit/errors.ts';
import type { SuiteChange, SuiteControl, SuiteMember } from '../../kit/service.ts';
import { describeContainer, type Container } from './container.ts';
import type { Health } from './neighbours.ts';

export interface ServiceControlOptions {
  readonly suite: SuiteControl;
  /** The health of the others that answer, by name, asked now. */
  readonly look: () => Promise<ReadonlyMap<string, Health>>;
  /** This service, which need not be asked. */
  readonly self: { readonly name: string; readonly health: () => Health };
}

export interface ControlOutcome {
  /** False when a service is not as was asked for. */
  readonly success: boolean;
  /** Says what was done, and of each service that was not changed as asked for why. */
  readonly message: string;
  /** The services that run now, wherever. */
  readonly services: readonly string[];
}

/** What chat cannot do without, and what it answers with. */
const core: readonly string[] = ['auth', 'models', 'gateway', 'chat'];

/** Starts, stops and lists the services of the suite, by profile: `core`, `full`, or a service's name. */
export class ServiceControl {
  readonly #options: ServiceControlOptions;

  constructor(options: ServiceControlOptions) {
    this.#options = options;
  }

  /** Starts those of a profile that do not run; rejects with `invalid` what is no profile. */
  async start(profile: string): Promise<ControlOutcome> {
    const change = await this.#options.suite.start(this.#namesOf(profile));
    return this.#outcome(change, { done: 'started', none: 'nothing had to be started' });
  }

  /** Stops all but those that never stop, or what a profile says; rejects with `invalid` what is none. */
  async stop(profile = 'full'): Promise<ControlOutcome> {
    const named = this.#namesOf(profile);
    const isOne = named.length === 1;
    const change = await this.#options.suite.stop(
      isOne ? named : named.filter((name) => !this.#isLasting(name)),
    );
    return this.#outcome(change, { done: 'stopped', none: 'nothing had to be stopped' });
  }

  /** Every service with how it is now; takes a second at most. */
  async containers(): Promise<readonly Container[]> {
    const healths = await this.#healths();
    const now = Date.now();
    return this.#members().map((member) =>
      describeContainer(member, { health: healths.get(member.name), now }),
    );
  }

  #members(): readonly SuiteMember[] {
    return this.#options.suite.services();
  }

  #isLasting(name: string): boolean {
    return this.#members().some((member) => member.name === name && member.isLasting);
  }

  #namesOf(profile: string): readonly string[] {
    const names = this.#members().map(({ name }) => name);
    if (profile === 'full') return names;
    if (profile === 'core') return core;
    if (names.includes(profile)) return [profile];
    const known = ['core', 'full', ...names].join(', ');
    throw new Fault('invalid', `there is no profile of this name; there are ${known}`, {
      reason: 'unknown_profile',
      detail: { path: '/profile' },
    });
  }

  async #healths(): Promise<ReadonlyMap<string, Health>> {
    const { look, self } = this.#options;
    return new Map([...(await look()), [self.name, self.health()]]);
  }

  async #outcome(
    { changed, refused }: SuiteChange,
    words: { readonly done: string; readonly none: string },
  ): Promise<ControlOutcome> {
    const did = changed.length > 0 ? `${words.done} ${changed.join(', ')}` : words.none;
    const reasons = refused.map(({ name, reason }) => `${name} was not ${words.done}: ${reason}`);
    return {
      success: refused.length === 0,
      message: [did, ...reasons].join('; '),
      services: await this.#running(),
    };
  }

  /** Those that this process runs, and those of others that answer. */
  async #running(): Promise<readonly string[]> {
    const members = this.#members();
    const isElsewhere = members.some(({ status }) => status === 'elsewhere');
    const healths = isElsewhere ? await this.#healths() : new Map<string, Health>();
    return members
      .filter(({ name, status }) =>
        status === 'elsewhere' ? healths.has(name) : status === 'running',
      )
      .map(({ name }) => name);
  }
}
