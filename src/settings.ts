import { Type } from 'typebox';
import { readConfig, settingOr, type Environment, type Settings } from './kit/config.ts';
import type { Rate } from './kit/rate-limit.ts';
import type { Service } from './kit/service.ts';
import { serviceNames } from './service-names.ts';
import { services } from './services.ts';
import { addressSetting, suiteSettings, type SuiteConfig } from './suite-settings.ts';

function rateSettings({ contract, rate }: Service) {
  const prefix = `RATE_LIMIT_${contract.name.toUpperCase()}`;
  return {
    perMinute: settingOr(
      `${prefix}_PER_MINUTE`,
      { schema: Type.Integer({ minimum: 1 }), or: rate.perMinute },
      `requests a minute that an identity may send to ${contract.name}`,
    ),
    burst: settingOr(
      `${prefix}_BURST`,
      { schema: Type.Integer({ minimum: 1 }), or: rate.burst },
      `requests that an identity may send to ${contract.name} at once`,
    ),
  };
}

/** Every setting there is, in groups: the suite's, addresses, and for each service its own and its rate. */
export function settingGroups(hosted: readonly Service[] = services) {
  const addresses: Settings = Object.fromEntries(
    serviceNames.map((name) => [name, addressSetting(name)]),
  );
  const own = hosted.map(({ contract, settings }) => [contract.name, settings]);
  const rates = hosted.map((service) => [`${service.contract.name} rate`, rateSettings(service)]);
  return {
    suite: suiteSettings,
    addresses,
    ...(Object.fromEntries([...own, ...rates]) as Readonly<Record<string, Settings>>),
  };
}

/** All settings of a process, read. */
export interface Configuration {
  readonly suite: SuiteConfig;
  readonly addressOf: (service: string) => string | undefined;
  readonly rateOf: (service: string) => Rate;
  readonly ownOf: (service: string) => unknown;
}

/** Reads the settings of a process that hosts these services; throws one Fault with every flaw. */
export function readConfiguration(
  environment: Environment,
  hosted: readonly Service[],
): Configuration {
  const read = readConfig<Readonly<Record<string, Settings>>>(settingGroups(hosted), environment);
  const { suite, addresses = {}, ...rest } = read;
  return {
    suite: suite as SuiteConfig,
    addressOf: (service) => addresses[service] as string | undefined,
    rateOf: (service) => rest[`${service} rate`] as unknown as Rate,
    ownOf: (service) => rest[service],
  };
}
