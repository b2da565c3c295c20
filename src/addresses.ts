import { serviceNames } from './service-names.ts';
import type { Configuration } from './settings.ts';
import type { Service } from './kit/service.ts';

/** Where the console and each service are. */
export interface AddressBook {
  readonly consolePort: number;
  readonly consoleUrl: string;
  /** The port on which a service of this process listens. */
  portOf(service: string): number;
  /** The ports on which it listens besides, by name. */
  furtherPortsOf(service: Service): Readonly<Record<string, number>>;
  /** The address by which others reach a service, without a slash at the end. */
  urlOf(service: string): string;
  /** The ports that this process is going to listen on, by who wants them. */
  portsHere(hasConsole: boolean): ReadonlyMap<string, number>;
}

/** The addresses that a configuration gives. */
export function addressBook(
  config: Pick<Configuration, 'suite' | 'addressOf'>,
  hosted: readonly Service[],
): AddressBook {
  const { host, portBase } = config.suite;
  const names: readonly string[] = serviceNames;
  const portOf = (service: string) => portBase + 1 + names.indexOf(service);
  const furtherPortsOf = ({ ports = {} }: Service) =>
    Object.fromEntries(Object.entries(ports).map(([name, offset]) => [name, portBase + offset]));
  const local = (port: number) => `http://${reachable(host)}:${port}`;
  return {
    consolePort: portBase,
    consoleUrl: local(portBase),
    portOf,
    furtherPortsOf,
    urlOf: (service) => config.addressOf(service) ?? local(portOf(service)),
    portsHere: (hasConsole) =>
      new Map([
        ...(hasConsole ? [['console', portBase] as const] : []),
        ...hosted.map(({ contract }) => [contract.name, portOf(contract.name)] as const),
        ...hosted.flatMap((service) => Object.entries(furtherPortsOf(service))),
      ]),
  };
}

/** An address that listens everywhere is reached over loopback; IPv6 needs brackets in a URL. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
